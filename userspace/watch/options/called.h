/* SPDX-License-Identifier: GPL-2.0 */
/* By which names a process is called: the kernel's (comm), or the program that it was started as. Reads /proc. */
#ifndef COPYSCOPE_WATCH_OPTIONS_CALLED_H
#define COPYSCOPE_WATCH_OPTIONS_CALLED_H

#include <stdbool.h>

#include "bpf/include/watch.h"

/* Does @name fit the glob? ? is any letter, * any number of them; nothing else is special. */
bool name_fits(const char *glob, const char *name);

/* Does a glob of @names fit the process's comm, or the last part of its first word (argv[0])? A program may change the first,
 * and passt runs as passt.avx2. @pid: as this PID namespace numbers it; @has: NULL, or a flag for each name that fits. */
bool process_is_called(const char *pid, const struct subject_names *names, bool *has);

/* Names of processes that run and look like @name, as ": near are passt.avx2, pasta"; empty if there are none. */
void processes_called_nearly(const char *name, char *text, int room);

#endif
