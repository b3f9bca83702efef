/* SPDX-License-Identifier: GPL-2.0 */
/* The number by which BPF programs know a process, whatever PID namespace it lives in. */
#ifndef COPYSCOPE_GLOBAL_TGID_H
#define COPYSCOPE_GLOBAL_TGID_H

#include <stdint.h>

/*
 * What bpf_get_current_pid_tgid() says of the calling process: its pid in the first PID namespace,
 * which getpid() and fork() do not tell in any other. Takes privileges for bpf(2).
 * -errno if the kernel refuses.
 */
int64_t global_tgid(void);

/*
 * A number that no other living process of this machine has, for names and addresses: the global
 * tgid, or where bpf(2) is refused getpid().
 */
uint32_t run_number(void);

#endif
