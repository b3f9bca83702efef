/* SPDX-License-Identifier: GPL-2.0 */
/* The known causes, by the callers of a copy, each with its remedy. Pure. */
#ifndef COPYSCOPE_CAUSES_KNOWN_H
#define COPYSCOPE_CAUSES_KNOWN_H

#include "bpf/include/sites.h"
#include "userspace/tables/causes.h"

const char *cause_name(enum known cause);

/* What to do about it, in one line. */
const char *cause_remedy(enum known cause);

/* The cause of a copy at @site that @frames asked for, as symbols_join writes them. */
enum known cause_of_stack(enum site site, unsigned int circumstances, const char *frames);

#endif
