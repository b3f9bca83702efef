/* SPDX-License-Identifier: GPL-2.0 */
/* One run of the suite as plain data, and its two prints: the record and the report. */
#ifndef COPYSCOPE_BASELINE_SUITE_H
#define COPYSCOPE_BASELINE_SUITE_H

#include <stdio.h>
#include <time.h>

#include "userspace/baseline/estimate.h"
#include "userspace/baseline/measure.h"

struct suite {
	struct settings settings;
	struct facts facts;
	struct outcome *rows;		/* owned */
	int row_count;
	char **command;
	char id[64];
	time_t started;
	double seconds;
	double stolen;			/* share of CPU time; NAN: not told */
};

/* Chooses the rows asked for. */
void suite_arrange(struct suite *s);
/* Proves, then times all rows in rounds, telling progress on stderr if a person is there. */
void suite_run(struct suite *s);
void suite_free(struct suite *s);

int suite_write(const struct suite *s, FILE *out);
void suite_report(const struct suite *s, FILE *out);
void suite_list(FILE *out);

#endif
