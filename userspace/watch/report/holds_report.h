/* SPDX-License-Identifier: GPL-2.0 */
/* How long the pages of zero-copy sends were held, as text. */
#ifndef COPYSCOPE_WATCH_REPORT_HOLDS_REPORT_H
#define COPYSCOPE_WATCH_REPORT_HOLDS_REPORT_H

#include "userspace/record/watch_record.h"
#include "userspace/report/page.h"

/* Of one process; nothing if it made no such send. */
void holds_report_print(const struct call_holds *holds, bool readings_known, const struct report_page *p);

#endif
