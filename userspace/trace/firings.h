/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts how often tracepoints fire, without BPF: the witness that no firing was kept from us.
 *
 * Some kernels run no BPF program while certain tasks are current. Work in softirq runs on top of
 * any task, so a hook there can miss packets and nothing says so: neither run nor missed-run count
 * of the program moves. A perf counter of the same tracepoint sees every firing on the machine.
 */
#ifndef COPYSCOPE_FIRINGS_H
#define COPYSCOPE_FIRINGS_H

#include <stdbool.h>
#include <stdint.h>

enum { FIRINGS_MAX = 8 };

struct firings;

/*
 * @names are "net/net_dev_start_xmit" and alike. Returns NULL where tracefs or perf refuse:
 * then nothing vouches for the hooks. Counting starts with firings_start.
 */
struct firings *firings_open(const char *const *names, int count);
void firings_start(struct firings *f);

/* Firings of names[i] on all CPUs since firings_start. */
uint64_t firings_read(const struct firings *f, int i);

/* NULL is accepted. */
void firings_close(struct firings *f);

#endif
