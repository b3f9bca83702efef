/* SPDX-License-Identifier: GPL-2.0 */
/* What a watch found of the sizes of calls and of held pages, as text. */
#ifndef COPYSCOPE_WATCH_REPORT_SIZES_REPORT_H
#define COPYSCOPE_WATCH_REPORT_SIZES_REPORT_H

#include "userspace/record/watch_record.h"
#include "userspace/report/page.h"

/* Nothing if nobody asked; @top processes at most. */
void sizes_report_print(const struct watch_record *r, int top, const struct report_page *p);

#endif
