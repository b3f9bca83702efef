/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts how often tracepoints are hit, without BPF, to show whether a program missed any.
 *
 * Some kernels run no BPF program while certain tasks are current. Work in softirq runs on top of
 * any task, so a hook there can miss packets without a sign: neither run nor missed-run count of
 * the program changes. A perf counter of the same tracepoint counts every hit on the machine.
 */
#ifndef COPYSCOPE_TP_HITS_H
#define COPYSCOPE_TP_HITS_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_HITS_MAX = 8 };

struct tp_hits;

/*
 * @names are "net/net_dev_start_xmit" and alike. Returns NULL where tracefs or perf refuse:
 * then nothing checks the hooks. Counting starts with tp_hits_start, for each name apart.
 */
struct tp_hits *tp_hits_open(const char *const *names, int count);
void tp_hits_start(struct tp_hits *hits, int i);

/* By how many hits of names[i] since tp_hits_start perf is ahead of a program's own count, which @seen
 * reads. Hits between the two readings do not shift it. */
int64_t tp_hits_ahead(const struct tp_hits *hits, int i, uint64_t (*seen)(const void *arg, int i),
		      const void *arg);

/* NULL is accepted. */
void tp_hits_close(struct tp_hits *hits);

#endif
