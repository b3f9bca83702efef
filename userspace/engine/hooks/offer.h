/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel offers to probes; private to the probes module. */
#ifndef COPYSCOPE_PROBES_OFFER_H
#define COPYSCOPE_PROBES_OFFER_H

#include "userspace/engine/hooks/hooks.h"
#include "userspace/record/record.h"

struct targets;

/* True if the kernel has it with as many arguments as @hook reads; else @why (WHY_BYTES) has a reason. It
 * may still not be attachable. */
bool offer_fits(const struct targets *targets, const struct hook *hook, char *why);

/* The backend to use, and in @why (WHY_BYTES) the reason. */
enum backend offer_backend(enum backend asked, const struct targets *targets, char *why);

#endif
