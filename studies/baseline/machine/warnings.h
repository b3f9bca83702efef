/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences that warn the reader of what disturbed a run. */
#ifndef COPYSCOPE_BASELINE_WARNINGS_H
#define COPYSCOPE_BASELINE_WARNINGS_H

enum { WARNINGS_MAX = 24, WARNING_BYTES = 240 };

struct warnings {
	int count;
	char sentence[WARNINGS_MAX][WARNING_BYTES];
};

/* Adds a sentence, once. */
void warnings_add(struct warnings *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
