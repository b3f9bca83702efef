/* SPDX-License-Identifier: GPL-2.0 */
/* What a watch found as names and numbers, for a host where nothing prints its report. */
#ifndef COPYSCOPE_WATCH_REPORT_TABLE_H
#define COPYSCOPE_WATCH_REPORT_TABLE_H

#include <stdio.h>

#include "userspace/watch/options/options.h"

/*
 * Prints bytes at each site, then bytes of each of the first rows that are asked for: a number, or "-" where it is not
 * measured. 0, or -errno: @out takes no more.
 */
int watch_table_print(const struct watch_record *r, const struct watch_options *o, FILE *out);

#endif
