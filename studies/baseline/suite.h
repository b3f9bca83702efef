/* SPDX-License-Identifier: GPL-2.0 */
/* One run of the suite: its rows, and in which order they are proved and timed. */
#ifndef COPYSCOPE_BASELINE_SUITE_H
#define COPYSCOPE_BASELINE_SUITE_H

#include <time.h>

#include "studies/baseline/bench/machine.h"
#include "studies/baseline/measure.h"
#include "studies/baseline/settings.h"

struct suite {
	struct settings settings;
	struct machine_info machine;
	struct warnings warnings;
	struct outcome *rows;		/* owned */
	int row_count;
	char **command;
	char id[64];
	time_t started;
	double seconds;
	double stolen;			/* share of CPU time; NAN: not told */
};

/* Exits with 2 and one line if the user named a row or a family that is not in the table. */
void suite_check_names(const struct settings *s);

/* Chooses the rows asked for. */
void suite_arrange(struct suite *s);
/* Proves, then times all rows in rounds, telling progress on stderr if a person is there. */
void suite_run(struct suite *s);
void suite_free(struct suite *s);

#endif
