/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of processes: that by which BPF programs know one, and those that /proc shows. */
#ifndef COPYSCOPE_PROCESS_NUMBERS_H
#define COPYSCOPE_PROCESS_NUMBERS_H

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

/*
 * If /proc/PID is another process than kill(PID) reaches, or if there is no /proc, mounts the right
 * one for this process and its children alone. Call it before a file is opened that will be named
 * by descriptor, and while there is one thread. 0, or -errno after a line that begins with
 * @program: /proc cannot be mounted, or children would be in another PID namespace.
 */
int pid_namespace_settle(const char *program);

#endif
