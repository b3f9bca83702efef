/* SPDX-License-Identifier: GPL-2.0 */
/* Which hooks of a table to load on the running kernel; private to the probes module. */
#ifndef COPYSCOPE_PROBES_CHOOSE_H
#define COPYSCOPE_PROBES_CHOOSE_H

#include "userspace/probes/hooks/hooks.h"
#include "userspace/record/record.h"
#include "userspace/record/subject.h"

struct bpf_object;
struct targets;

/* Marks the programs to load, and fills r->probes with one row for each hook: a reason if it stays
 * out. @detach is the question left off on purpose, or NULL. 0 or -errno and r->backend_why. */
int probes_choose(struct bpf_object *object, const struct hook *hooks,
		  const struct subject *subject, const char *detach, const struct targets *targets,
		  struct record *r);

#endif
