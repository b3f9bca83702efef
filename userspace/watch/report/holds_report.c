// SPDX-License-Identifier: GPL-2.0
/* How long the pages of zero-copy sends were held, as text. */
#include "userspace/watch/report/holds_report.h"

#include "userspace/common/text.h"

enum { TIME_BYTES = 16 };

/* "20.1 ms to 45.2 ms; half below 33.6 ms, 99 of 100 below 67.1 ms" */
static void times_text(const struct hold_times *times, char *text, size_t size)
{
	char shortest[TIME_BYTES], longest[TIME_BYTES], half[TIME_BYTES], most[TIME_BYTES];

	duration_text(~times->shortest_less, shortest);
	duration_text(times->longest_ns, longest);
	duration_text(bucket_from(hold_bucket(times, 0.5) + 1), half);
	duration_text(bucket_from(hold_bucket(times, 0.99) + 1), most);
	snprintf(text, size, "%s to %s, half of them below %s and 99 of 100 below %s", shortest, longest, half, most);
}

static void print_times(const struct hold_times *times, const char *what, const struct report_page *p)
{
	char line[160], sends[32], whole[260];

	number_text(times->sends, sends);
	times_text(times, line, sizeof(line));
	snprintf(whole, sizeof(whole), "%s %s%s%s", sends, what, times->sends ? ": " : "", times->sends ? line : "");
	page_text(p, "    ", whole, 6);
}

void holds_report_print(const struct call_holds *holds, bool readings_known, const struct report_page *p)
{
	char line[400], most[32], now[32], released[32], copied[32], closed[32], untold[32], number[32];

	if (!hold_was_any(holds))
		return;
	number_text(hold_most(holds), most);
	number_text(holds->outstanding, now);
	fprintf(p->out, "  zero-copy sends whose pages were held: %s at most at a time, %s now\n", most, now);
	print_times(&holds->posted, "notified", p);
	if (readings_known)
		print_times(&holds->read, "of them read by the program", p);
	else
		page_text(p, "    ", "when the program read that is not measured: no hook of this kernel tells it (before "
			  "6.3)", 6);
	number_text(holds->by_ring, number);
	snprintf(line, sizeof(line), "%s of them by io_uring: when the program reads these is not measured, as it reads them from "
		 "memory, by no call", number);
	if (holds->by_ring)
		page_text(p, "    ", line, 6);
	number_text(holds->released, released);
	number_text(holds->copied, copied);
	number_text(holds->closed, closed);
	number_text(holds->untold, untold);
	snprintf(line, sizeof(line), "ended: %s as all packets were acknowledged and let go, %s by a copy (COPIED), %s with "
		 "their socket%s%s%s", released, copied, closed, holds->untold ? ", " : "", holds->untold ? untold : "",
		 holds->untold ? " by either of the first two: the program did not ask (IORING_SEND_ZC_REPORT_USAGE)" : "");
	page_text(p, "    ", line, 6);
	number_text(holds->untimed, number);
	if (holds->untimed)
		fprintf(p->out, "    %s found no room and are not in these numbers\n", number);
	if (holds->rings_missed)
		page_text(p, "    ", "sends of io_uring that began before its hook was attached are not in these numbers", 6);
}
