/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on one watched process, in words. Pure. */
#ifndef COPYSCOPE_WATCH_REPORT_SENTENCE_H
#define COPYSCOPE_WATCH_REPORT_SENTENCE_H

#include "userspace/watch/report/phrases.h"

/* What the process did, without its name: "98.2 % of 12.3 GB was spliced ...". The larger of what it sent and
 * received comes first. It has no phrase of phrases.h that needs a number which is not known. */
void sentence_of_process(const struct watch_record *r, const struct watch_process *p,
			 char text[SENTENCE_BYTES]);

/* The name of a verdict in records: "clean". */
const char *verdict_name(enum verdict_of_process verdict);

#endif
