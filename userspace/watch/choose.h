/* SPDX-License-Identifier: GPL-2.0 */
/* The processes of a watch's subject that run: which, and how many still do. */
#ifndef COPYSCOPE_WATCH_CHOOSE_H
#define COPYSCOPE_WATCH_CHOOSE_H

#include "userspace/engine/engine.h"
#include "userspace/watch/options/subject.h"

/* Makes the processes that run and fit part of the subject. 0, or -errno with one line in @why. */
int watch_choose(struct engine *probes, const struct watch_subject *subject, char why[WHY_BYTES]);

/* How many processes of the subject run; -1: not known by number. */
int watch_alive(const struct engine *probes, const struct watch_subject *subject);

#endif
