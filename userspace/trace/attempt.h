/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a run again that the kernel kept something of from the probes. */
#ifndef COPYSCOPE_ATTEMPT_H
#define COPYSCOPE_ATTEMPT_H

#include "userspace/trace/record.h"

/* Notes in @r which attempt this is, and how it is scheduled. */
void attempt_begin(struct record *r);

/* Was something kept from the probes, and is there an attempt left? */
bool attempt_is_worth_another(const struct record *r);

/* Says why, and starts the program over in a fresh image, which also has the privileges that were
 * dropped. Returns only if that fails. */
void attempt_again(const struct record *r, char **argv);

#endif
