/* SPDX-License-Identifier: GPL-2.0 */
/* Which calls of the programs moved bytes, as text and as JSON. */
#ifndef COPYSCOPE_WATCH_REPORT_STACKS_REPORT_H
#define COPYSCOPE_WATCH_REPORT_STACKS_REPORT_H

#include <jansson.h>

#include "userspace/record/watch_record.h"
#include "userspace/report/page.h"

/* Nothing if nobody asked; @top stacks at most. */
void stacks_report_print(const struct watch_record *r, int top, const struct report_page *p);

json_t *stacks_json(const struct watch_record *r);

#endif
