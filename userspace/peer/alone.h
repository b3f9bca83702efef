/* SPDX-License-Identifier: GPL-2.0 */
/* The record of one host's half, when the other half never came. Pure. */
#ifndef COPYSCOPE_ALONE_H
#define COPYSCOPE_ALONE_H

#include "userspace/record/record.h"

/* Removes from @r, whose sites are filled in, what needs both hosts; @why is the reason. */
void half_alone(struct record *r, enum end here, const char *why);

#endif
