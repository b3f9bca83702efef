/* SPDX-License-Identifier: GPL-2.0 */
/* Speaks with the plugin of the guest's emulator: tells it where the kernel's functions lie, and when to count. */
#ifndef COPYSCOPE_MODEL_H
#define COPYSCOPE_MODEL_H

#include "userspace/counters/modelled.h"

struct model {
	int port;		/* the plugin's reports come by it; 0: no model is asked for */
	struct model_caches caches;
};

/* True if tools/guest says that the emulator has the plugin. */
bool model_offered(void);

/*
 * Opens the port and tells the plugin of the kernel's functions. Needs the right to read kernel addresses.
 * 0, or -errno with one line printed.
 */
int model_prepare(struct model *m);

/* The window opens. */
void model_open(const struct model *m);

/* The window closes: what was counted in it. @result is known, or says why not. */
void model_close(const struct model *m, struct modelled *result);

/* A zeroed one is accepted. */
void model_free(struct model *m);

#endif
