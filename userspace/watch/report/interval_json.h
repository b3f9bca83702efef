/* SPDX-License-Identifier: GPL-2.0 */
/* What is printed of an interval while a watch goes on. */
#ifndef COPYSCOPE_WATCH_REPORT_INTERVAL_JSON_H
#define COPYSCOPE_WATCH_REPORT_INTERVAL_JSON_H

#include <jansson.h>

#include "userspace/watch/report/rows.h"

/* What moved since the reading before: the rows that come first, however many there are, and the number of the others.
 * @detail: sites and causes of each, the sockets that come first, and sizes of calls if they are counted. NULL without memory. */
json_t *interval_json(const struct watch_record *r, enum watch_rows what, enum rows_order order, int asked,
		      bool detail);

#endif
