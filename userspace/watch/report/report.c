// SPDX-License-Identifier: GPL-2.0
/* The report of a watch for people, and the blocks of its intervals. */
#include "userspace/watch/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/report/report_parts.h"
#include "userspace/watch/summary/figures.h"
#include "userspace/watch/summary/sentence.h"

int watch_laws_broken(const struct watch_record *r)
{
	int broken = 0;

	for (int i = 0; i < WATCH_LAW_COUNT; i++)
		broken += r->laws[i].status == LAW_BROKEN;
	return broken;
}

static uint64_t moved_bytes(const struct watch_process *p)
{
	return p->sum.moved.count[COUNT_accepted_bytes] + p->sum.moved.count[COUNT_returned_bytes];
}

static int compare_processes(const void *a, const void *b)
{
	const struct watch_process *left = *(struct watch_process *const *)a;
	const struct watch_process *right = *(struct watch_process *const *)b;
	uint64_t x = moved_bytes(left), y = moved_bytes(right);

	return x < y ? 1 : x > y ? -1 : left->id.pid < right->id.pid ? -1 : 1;
}

/* nginx, pid 812: 98.2 % of 12.3 GB was spliced from the page cache ... */
static void print_verdict(const struct watch_record *r, const struct watch_process *w,
			  const struct page *p)
{
	char name[WATCH_NAME_BYTES], text[SENTENCE_BYTES], whole[WATCH_NAME_BYTES + SENTENCE_BYTES + 2];

	process_name(&w->id, w->comm, name);
	sentence_of_process(r, w, text);
	snprintf(whole, sizeof(whole), "%s: %s", name, text);
	page_tinted(p, TINT_BOLD, "", whole, 2);
}

static void print_verdicts(const struct watch_record *r, const struct page *p)
{
	const struct watch_process **all = calloc(r->process_count + 1, sizeof(*all));
	char why[WHY_BYTES];
	int shown = 0, silent = 0;

	if (watch_sums_short(r, why))
		page_tinted(p, TINT_BAD, "Sums may be short: ", why, 2);
	for (int i = 0; all && i < r->process_count; i++)
		all[i] = &r->processes[i];
	if (all)
		qsort(all, r->process_count, sizeof(*all), compare_processes);
	for (int i = 0; all && i < r->process_count; i++) {
		silent += !moved_bytes(all[i]);
		if (shown < p->top && (moved_bytes(all[i]) || !i)) {
			print_verdict(r, all[i], p);
			shown++;
		}
	}
	if (r->process_count - silent > shown)
		fprintf(p->out, "%d more processes moved payload: --top %d shows them.\n",
			r->process_count - silent - shown, r->process_count - silent);
	if (!r->process_count)
		fprintf(p->out, "No process of the subject used a TCP socket.\n");
	if (watch_laws_broken(r))
		page_tinted(p, TINT_BAD, "", "Do not trust these numbers: a law is broken (below).", 0);
	free(all);
}

/* 5.0 s, 12 sockets, 9 opened and 7 closed in that time; kernel 6.12.95, tracepoint backend, ... */
static void print_head(const struct watch_record *r, const struct page *p)
{
	char line[400], sockets[32], born[32], died[32];

	number_text(r->total.sockets, sockets);
	number_text(r->total.born, born);
	number_text(r->total.died, died);
	snprintf(line, sizeof(line), "%.1f s, %s socket%s, %s opened and %s closed in that time; "
		 "kernel %s, %s backend, %s", r->window_ns / 1e9, sockets,
		 r->total.sockets == 1 ? "" : "s", born, died, r->machine.kernel,
		 backend_name(r->backend), r->books == WATCH_CALLS ? "a probe in each call" :
		 "plain calls counted by TCP's sequence numbers");
	page_text(p, "\n", line, 0);
}

/* One table by what was asked for, and one of remote peers: who received. */
static void print_rows(const struct watch_record *r, const struct page *p, enum watch_rows what,
		       int top)
{
	struct page part = *p;
	struct rows rows;

	part.rows = what;
	part.top = top;
	if (rows_make(r, what, ROWS_BY_NEEDLESS, false, &rows))
		return;
	if (rows.count) {
		fputc('\n', p->out);
		page_rows(&part, &rows, 0);
	}
	if (rows.count > top)
		fprintf(p->out, "%*s  %d more: --by %s --top %d\n", 48, "", rows.count - top,
			watch_rows_names[what], rows.count);
	rows_free(&rows);
}

void watch_report_print(const struct watch_record *r, const struct page *p)
{
	enum { PEERS_BESIDE = 5 };

	print_verdicts(r, p);
	print_head(r, p);
	print_watched_sites(r, p);
	print_watched_causes(r, p);
	print_watched_zerocopy(r, p);
	print_rows(r, p, p->rows, p->top);
	page_text(p, "  ", "no copy: sent by reference or spliced, and seen to be handed over as pages; "
		  "needless: was to be sent so, and was copied all the same; -: not measured", 2);
	if (p->rows != ROWS_PEERS)
		print_rows(r, p, ROWS_PEERS, p->top < PEERS_BESIDE ? p->top : PEERS_BESIDE);
	print_watched_balances(r, p);
	print_watched_laws(r, p);
	print_watched_cost(r, p);
	print_not_watched(r, p);
	fflush(p->out);
}

void watch_block_print(const struct watch_record *r, const struct page *p)
{
	struct rows rows;

	if (rows_make(r, p->rows, p->order, true, &rows))
		return;
	fprintf(p->out, "%.1f s\n", r->window_ns / 1e9);
	page_rows(p, &rows, r->lately_ns);
	if (rows.count > p->top)
		fprintf(p->out, "%*s  %d more\n", 48, "", rows.count - p->top);
	fputc('\n', p->out);
	rows_free(&rows);
	fflush(p->out);
}
