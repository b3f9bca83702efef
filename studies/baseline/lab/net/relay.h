/* SPDX-License-Identifier: GPL-2.0 */
/* Delays packets in a process, for kernels that have no netem. */
#ifndef COPYSCOPE_BASELINE_RELAY_H
#define COPYSCOPE_BASELINE_RELAY_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Starts a child that carries every packet from one of two TUN devices to the other, @delay_ns
 * later. It owns both descriptors. Returns its pid or -errno.
 */
pid_t relay_start(const int tun[2], uint64_t delay_ns);

#endif
