/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the programs saw each notification and each packet that arrived, on kernels without trampolines:
 * perf counts the same tracepoints beside them.
 *
 * A kernel may run no program while certain tasks are current (docs/METHOD.md). Sockets that begin and end
 * unseen are found by bpf/watch/census.bpf.h, packets that leave by what TCP says it sent.
 */
#ifndef COPYSCOPE_WATCH_UNSEEN_H
#define COPYSCOPE_WATCH_UNSEEN_H

#include "userspace/probes/watch/watch_parts.h"

/* Opens a counter for each hook that this kernel may attach, which counts nothing yet; where tracefs or perf
 * refuse, nothing checks them. */
void unseen_open(struct watch_probes *p);

/* Starts the counters of the hooks that are attached. Packets that pass during the call shift nothing. */
void unseen_begin(struct watch_probes *p);

/* Notes in each probe that is checked how many hits its program missed until now. */
void unseen_note(const struct watch_probes *p, struct probe *probes);

#endif
