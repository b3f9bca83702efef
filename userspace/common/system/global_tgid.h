/* SPDX-License-Identifier: GPL-2.0 */
/* The number by which BPF programs know a process, in any PID namespace. */
#ifndef COPYSCOPE_GLOBAL_TGID_H
#define COPYSCOPE_GLOBAL_TGID_H

#include <stdint.h>

/*
 * What bpf_get_current_pid_tgid() returns for the calling process: its pid in the first PID
 * namespace. getpid() and fork() return another number in any other namespace. Needs the privileges
 * for bpf(2). -errno if the kernel refuses.
 */
int64_t global_tgid(void);

/*
 * A number that no other living process of this machine has, for names and addresses: the global
 * tgid, or where bpf(2) is refused getpid().
 */
uint32_t run_number(void);

#endif
