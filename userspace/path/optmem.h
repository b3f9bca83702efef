/* SPDX-License-Identifier: GPL-2.0 */
/* Limits how many notifications a run's sockets may have outstanding: net.core.optmem_max. */
#ifndef COPYSCOPE_OPTMEM_H
#define COPYSCOPE_OPTMEM_H

#include <stdint.h>

#include "userspace/path/path.h"

/* What to put back at the end, for a kernel that has one limit for the whole machine. */
struct optmem {
	char was[24];	/* empty: nothing was changed that outlives the run */
	int fd;		/* then the file of the limit: a later process may not be able to open it */
};

/*
 * Sets the limit in the namespaces of @path; 0 bytes: leaves it. If the limit holds for the whole
 * machine, changes it only in a throwaway guest. 0, or -errno with one line printed.
 */
int optmem_limit(struct optmem *optmem, const struct path *path, uint64_t bytes);

/* Accepts a zeroed one. */
void optmem_restore(struct optmem *optmem);

#endif
