/* SPDX-License-Identifier: GPL-2.0 */
/* Reads what the programs counted out of their maps; private to the probes module. */
#ifndef COPYSCOPE_PROBES_READ_H
#define COPYSCOPE_PROBES_READ_H

#include "userspace/probes/read/view.h"
#include "userspace/record/record.h"

/* How often a program ran, for how long, and how often it was skipped because it was already
 * running on that CPU (a skipped run is a lost count). */
void probe_read_runs(const struct probes_view *view, const char *program, struct probe *probe);

/* Between load and attachment: opens or caches the files that ledger_read() needs, for a process that
 * soon may open none. */
void ledger_prepare(const struct probes_view *view);

/* True if this process, as it is now, can read the maps. */
bool ledger_readable(const struct probes_view *view);

/* Fills @ledger, whatever was in it, with the sums of the per-CPU maps. 0 or -errno; what it owns is the
 * caller's to free either way. */
int ledger_read(const struct probes_view *view, struct ledger *ledger);

#endif
