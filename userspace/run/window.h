/* SPDX-License-Identifier: GPL-2.0 */
/* The window of a measurement: opened, closed and read once each. */
#ifndef COPYSCOPE_WINDOW_H
#define COPYSCOPE_WINDOW_H

#include "userspace/engine/probes.h"

struct window {
	struct probes *probes;	/* NULL: nothing is counted */
	uint64_t opened_ns;
};

/* In place of window_load(): hooks that another process keeps attached. 0 or -errno, as probes_renew(). */
int window_renew(struct window *w, struct probes *attached, const struct probes_config *config, struct record *r);

/*
 * In this order, the first two with processes that exist and may be busy. Nothing is loaded where
 * r->backend is BACKEND_NONE. 0, or -errno with one line printed.
 */
int window_load(struct window *w, const struct probes_config *config, struct record *r);
int window_attach(struct window *w, enum backend asked, struct record *r);

/* 0 or -errno. */
int window_open(struct window *w);

/* Also notes how long it was open. */
void window_close(struct window *w, struct record *r);

/* Once it is closed: fills r->ledger, and notes what programs did. 0 or -errno. */
int window_read(const struct window *w, struct record *r);

/* A zeroed window is accepted. */
void window_free(struct window *w);

#endif
