/* SPDX-License-Identifier: GPL-2.0 */
/* Reads /proc/kallsyms, the kernel's 200,000 symbols, line by line. */
#ifndef COPYSCOPE_SYMBOL_LINES_H
#define COPYSCOPE_SYMBOL_LINES_H

#include <stdint.h>
#include <stdio.h>

enum { SYMBOL_LINE_BYTES = 512 };

/* The kernel shows addresses to a process that was allowed to see them when it opened the file. NULL with
 * errno. */
FILE *symbol_lines_open(void);

/*
 * The next line that shows an address: where its symbol starts, and its name in @line, which ends with a line's
 * end, or with a tab before the name of a module. 0 after the last one.
 */
uint64_t symbol_lines_next(FILE *file, char line[SYMBOL_LINE_BYTES], const char **name);

#endif
