// SPDX-License-Identifier: GPL-2.0
/* What a watch found of the sizes of calls and of how long zero copy held pages, as text: histograms of each process. */
#include "userspace/watch/report/sizes_report.h"

#include <stdlib.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/report/names.h"

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

/* Of one process; nothing if it made no such send. */
static void print_holds(const struct call_holds *holds, bool readings_known, const struct report_page *p)
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

enum { BAR_COLUMNS = 20, POWER_BYTES = 16, KIB_BITS = 10 };

/* 4096 -> "4 KiB" */
static void power_text(uint64_t bytes, char text[POWER_BYTES])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	int unit = 0;

	while (bytes >> KIB_BITS) {
		bytes >>= KIB_BITS;
		unit++;
	}
	snprintf(text, POWER_BYTES, "%u %s", (unsigned int)bytes, units[unit]);
}

/*
 *     4 KiB to below 8 KiB            23 calls   94.1 kB  ####################
 */
static void print_bucket(const struct size_bucket *bucket, int at, uint64_t most, const struct report_page *p)
{
	char from[POWER_BYTES], below[POWER_BYTES], range[2 * POWER_BYTES + 16], calls[32], bytes[AMOUNT_BYTES];
	char bar[BAR_COLUMNS + 1] = "";

	power_text(bucket_from(at), from);
	power_text(bucket_from(at + 1), below);
	snprintf(range, sizeof(range), at ? "%s to below %s" : "nothing", from, below);
	number_text(bucket->calls, calls);
	amount_text(p, bucket->bytes, bytes);
	/* A single call has a mark as well. */
	memset(bar, '#', 1 + (BAR_COLUMNS - 1) * (double)bucket->calls / most);
	fprintf(p->out, "    %-22s %11s call%s %9s  %s\n", range, calls, bucket->calls == 1 ? " " : "s", bytes, bar);
}

static void print_way(const struct call_sizes *sizes, enum call_way way, const struct report_page *p)
{
	struct size_bucket sum = size_sum(sizes, way);
	char calls[32], bytes[AMOUNT_BYTES];
	uint64_t most = 0;

	if (!sum.calls)
		return;
	number_text(sum.calls, calls);
	amount_text(p, sum.bytes, bytes);
	fprintf(p->out, "  %s: %s, %s\n", call_way_name(way), calls, bytes);
	for (int i = 0; i < SIZE_BUCKETS; i++)
		if (sizes->bucket[way][i].calls > most)
			most = sizes->bucket[way][i].calls;
	for (int i = 0; i < SIZE_BUCKETS; i++)
		if (sizes->bucket[way][i].calls)
			print_bucket(&sizes->bucket[way][i], i, most, p);
}

static struct size_bucket sum_of(const struct call_sizes *sizes)
{
	struct size_bucket sum = {};

	for (enum call_way way = 0; way < CALL_WAY_COUNT; way++) {
		struct size_bucket part = size_sum(sizes, way);

		sum.calls += part.calls;
		sum.bytes += part.bytes;
	}
	return sum;
}

static void print_sizes(const char *name, const struct call_sizes *sizes, const struct report_page *p)
{
	page_text(p, "", name, 2);
	for (enum call_way way = 0; way < CALL_WAY_COUNT; way++)
		print_way(sizes, way, p);
}

static int most_bytes_first(const void *a, const void *b)
{
	uint64_t x = sum_of((*(const struct watch_process *const *)a)->sizes).bytes;
	uint64_t y = sum_of((*(const struct watch_process *const *)b)->sizes).bytes;

	return (x < y) - (x > y);
}

static bool has_calls(const struct watch_process *p)
{
	return p->sizes && (sum_of(p->sizes).calls || hold_was_any(p->holds));
}

static void print_processes(const struct watch_record *r, int top, const struct report_page *p)
{
	const struct watch_process **all = calloc(r->process_count + 1, sizeof(*all));
	char name[WATCH_NAME_BYTES];
	int count = 0;

	for (int i = 0; all && i < r->process_count; i++)
		if (has_calls(&r->processes[i]))
			all[count++] = &r->processes[i];
	if (count)
		qsort(all, count, sizeof(*all), most_bytes_first);
	for (int i = 0; i < count && i < top; i++) {
		process_name(&all[i]->id, all[i]->comm, name);
		print_sizes(name, all[i]->sizes, p);
		print_holds(all[i]->holds, r->sizes.readings_known, p);
	}
	if (count > top)
		fprintf(p->out, "%d more: --top %d\n", count - top, count);
	if (sum_of(r->sizes.all).calls)
		print_sizes("All others, which are not told one by one", r->sizes.all, p);
	else if (!count)
		fprintf(p->out, "No call returned.\n");
	free(all);
}

static void print_law(const struct watch_sizes *s, const struct report_page *p)
{
	char left[32], right[32], line[WHY_BYTES + 160];

	number_text(s->left, left);
	number_text(s->right, right);
	if (s->law == LAW_BALANCED)
		snprintf(line, sizeof(line), "These sizes add up to the %s bytes that calls returned.", left);
	else if (s->law == LAW_BROKEN)
		snprintf(line, sizeof(line), "Do not trust these sizes: they add up to %s bytes, and calls returned %s.",
			 left, right);
	else
		snprintf(line, sizeof(line), "These sizes add up to %s bytes, and calls returned %s: not testable, as %s.",
			 left, right, s->why);
	if (s->law == LAW_BROKEN)
		page_tinted(p, TINT_BAD, "", line, 0);
	else
		page_text(p, "", line, 0);
}

void sizes_report_print(const struct watch_record *r, int top, const struct report_page *p)
{
	const struct watch_sizes *s = &r->sizes;
	char number[32], line[128];

	if (!s->asked)
		return;
	if (!s->all) {
		page_text(p, "\nsizes of calls ", "not measured: the hooks of calls are missing", 15);
		return;
	}
	page_text(p, "\nsizes of calls ", s->receives_known ?
		  "what each send was accepted for and each receive returned" :
		  "what each send was accepted for and each receive returned; receives by splice and "
		  "TCP_ZEROCOPY_RECEIVE are not measured, as no tracepoint tells them", 15);
	print_processes(r, top, p);
	number_text(s->unsized_calls, number);
	snprintf(line, sizeof(line), "%s calls are in none of these: it was not known yet that their sockets are the "
		 "subject's.", number);
	if (s->unsized_calls)
		page_text(p, "", line, 0);
	print_law(s, p);
}
