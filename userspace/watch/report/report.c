// SPDX-License-Identifier: GPL-2.0
/* The report of a watch for people, part after part, and the blocks of its intervals. */
#include "userspace/watch/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/report/missing.h"
#include "userspace/report/tables.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/cpu_report.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/sentence.h"
#include "userspace/watch/report/sizes_report.h"
#include "userspace/watch/report/stacks_report.h"

/* Nothing moved, as far as is known, and all is known. */
static bool is_silent(const struct watch_process *p)
{
	const struct watch_movements *m = &p->sum.moved;

	return figure_sent(m).known && figure_received(m).known && !figure_moved(m);
}

static int compare_processes(const void *a, const void *b)
{
	const struct watch_process *left = *(struct watch_process *const *)a;
	const struct watch_process *right = *(struct watch_process *const *)b;
	uint64_t x = figure_moved(&left->sum.moved), y = figure_moved(&right->sum.moved);

	if (x != y)
		return x < y ? 1 : -1;
	if (is_silent(left) != is_silent(right))
		return is_silent(left) ? 1 : -1;
	return left->id.pid < right->id.pid ? -1 : 1;
}

/* nginx, pid 812: 98.2 % of 12.3 GB was spliced from the page cache ... */
static void print_verdict(const struct watch_record *r, const struct watch_process *w,
			  const struct report_page *p)
{
	char name[WATCH_NAME_BYTES], text[SENTENCE_BYTES], whole[WATCH_NAME_BYTES + SENTENCE_BYTES + 2];

	process_name(&w->id, w->comm, name);
	sentence_of_process(r, w, text);
	snprintf(whole, sizeof(whole), "%s: %s", name, text);
	page_tinted(p, TINT_BOLD, "", whole, 2);
}

/* What helps, by what was refused. */
static const char *why_refused(const struct watch_record *r, enum watch_request request)
{
	if (request == WATCH_REQUEST_ZEROCOPY)
		return "sockets of that kind have no zero copy";
	if (r->refused_error[request] == ENOENT)
		return "load the module tls (modprobe tls)";
	return r->refused_error[request] == ENOTCONN ? "connect before" : "";
}

/* Refused: kernel TLS 3 times (ENOENT): load the module tls (modprobe tls) */
static void print_requests(const struct watch_record *r, const struct report_page *p)
{
	for (enum watch_request request = 0; request < WATCH_REQUEST_COUNT; request++) {
		const char *error = strerrorname_np(r->refused_error[request]), *why = why_refused(r, request);
		char line[200], calls[32];

		if (!r->refused[request])
			continue;
		number_text(r->refused[request], calls);
		snprintf(line, sizeof(line), "%s %s time%s (%s)%s%s", watch_request_name(request), calls,
			 r->refused[request] == 1 ? "" : "s", error ? error : "another error", *why ? ": " : "", why);
		page_tinted(p, TINT_BAD, "Refused: ", line, 2);
	}
}

/* A socket of the process that broke a law, and which; NULL: the record has it no more. */
static const struct watch_socket *broken_socket(const struct watch_record *r, const struct watch_process *w,
						enum watch_law *law)
{
	for (int i = 0; i < r->socket_count; i++) {
		const struct watch_socket *s = &r->sockets[i];

		for (*law = 0; *law < WATCH_LAW_COUNT; ++*law)
			if (s->laws[*law] == LAW_BROKEN && s->owner.pid == w->id.pid &&
			    s->owner.started_ns == w->id.started_ns)
				return s;
	}
	*law = __builtin_ctz(w->sum.laws_broken);
	return NULL;
}

/* Do not trust the numbers of nginx, pid 812: the law completion is broken at its socket 10.0.0.1:80 - 10.0.0.2:4000 ... */
static void print_doubt(const struct watch_record *r, const struct watch_process *w, const struct report_page *p)
{
	char name[WATCH_NAME_BYTES], local[WATCH_NAME_BYTES], remote[WATCH_NAME_BYTES], line[3 * WATCH_NAME_BYTES + 160];
	const struct watch_socket *s;
	enum watch_law law;
	int used;

	process_name(&w->id, w->comm, name);
	s = broken_socket(r, w, &law);
	used = snprintf(line, sizeof(line), "Do not trust the numbers of %s: the law %s is broken", name, watch_law_name(law));
	if (s) {
		address_name(&s->local, local);
		address_name(&s->remote, remote);
		snprintf(line + used, sizeof(line) - used, " at its socket %s - %s (%lld on one side, %lld on the other).",
			 local, remote, (long long)s->left[law], (long long)s->right[law]);
	} else {
		snprintf(line + used, sizeof(line) - used, " at one of its sockets that closed.");
	}
	page_tinted(p, TINT_BAD, "", line, 2);
}

/* Is a law broken that is of no process whose sockets were told? Shares of CPU time have their own line. */
static bool is_broken_beyond(const struct watch_record *r, uint32_t told)
{
	bool beyond = r->sizes.law == LAW_BROKEN || r->stacks_law.status == LAW_BROKEN;

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		beyond |= r->laws[l].status == LAW_BROKEN && !(told >> l & 1);
	return beyond;
}

/* Whose numbers are not to be trusted; a law that broke for one process says nothing of another. */
static void print_doubts(const struct watch_record *r, const struct report_page *p)
{
	enum { NAMED = 3 };
	uint32_t told = 0;
	int processes = 0, others;

	for (int i = 0; i < r->process_count; i++) {
		if (!r->processes[i].sum.laws_broken)
			continue;
		told |= r->processes[i].sum.laws_broken;
		if (processes++ < NAMED)
			print_doubt(r, &r->processes[i], p);
	}
	if (processes > NAMED)
		fprintf(p->out, "Nor those of %d more processes, which --json names (laws_broken).\n", processes - NAMED);
	others = r->process_count - processes;
	if (is_broken_beyond(r, told))
		page_tinted(p, TINT_BAD, "", "Do not trust these numbers: a law is broken (below).", 0);
	else if (processes && others)
		fprintf(p->out, "No law is broken at the sockets of %d other process%s.\n", others, others == 1 ? "" : "es");
	if (r->cpu_broken)
		page_tinted(p, TINT_BAD, "", "Do not trust shares of CPU time where that is said (below).", 0);
}

static void print_verdicts(const struct watch_record *r, int top, const struct report_page *p)
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
		silent += is_silent(all[i]);
		if (shown < top && (!is_silent(all[i]) || !i)) {
			print_verdict(r, all[i], p);
			shown++;
		}
	}
	if (r->process_count - silent > shown)
		fprintf(p->out, "%d more processes moved payload, or may have: --top %d shows them.\n",
			r->process_count - silent - shown, r->process_count - silent);
	print_requests(r, p);
	if (!r->process_count)
		fprintf(p->out, "No process of the subject used a TCP or UDP socket.\n");
	free(all);
}

/* 5.0 s, 12 sockets, 9 opened and 7 closed in that time; kernel 6.12.95, tracepoint backend, ... */
static void print_head(const struct watch_record *r, const struct report_page *p)
{
	char line[400], sockets[32], born[32], died[32];

	number_text(r->total.sockets, sockets);
	number_text(r->total.born, born);
	number_text(r->total.died, died);
	snprintf(line, sizeof(line), "%.1f s, %s socket%s, %s opened and %s closed in that time; "
		 "kernel %s, %s backend, %s", r->window_ns / 1e9, sockets,
		 r->total.sockets == 1 ? "" : "s", born, died, r->machine.kernel,
		 backend_name(r->backend), r->books == WATCH_CALLS ? "a probe in each call" :
		 "plain calls of TCP counted by its sequence numbers");
	page_text(p, "\n", line, 0);
}

/* One table by what was asked for, and one of remote peers: who received. Was there a row? */
static bool print_rows(const struct watch_record *r, const struct watch_page *p, enum watch_rows what,
		       int top)
{
	struct watch_page part = *p;
	struct rows rows;
	bool found;

	part.rows = what;
	part.top = top;
	if (rows_make(r, what, ROWS_BY_NEEDLESS, false, &rows))
		return false;
	found = rows.count;
	if (found) {
		fputc('\n', p->on.out);
		page_rows(&part, &rows, 0);
	}
	if (rows.count > top)
		fprintf(p->on.out, "%*s  %d more: --by %s --top %d\n", 48, "", rows.count - top,
			watch_rows_names[what], rows.count);
	rows_free(&rows);
	return found;
}

/* Bytes of a sender's site are compared with what was sent, of a receiver's with what it received. */
static void print_bytes(const struct watch_record *r, const struct report_page *p)
{
	struct figure sent = figure_sent(&r->total.moved), received = figure_received(&r->total.moved);
	struct site_texts texts[SITE_COUNT] = { 0 };

	for (enum site s = 0; s < SITE_COUNT; s++) {
		struct figure whole = site_has(s, SITE_OF_RECEIVER) ? received : sent;

		share_text(r->sites[s].tally.bytes, whole.known ? whole.bytes : 0, texts[s].share);
	}
	print_sites(r->sites, texts, "share", NULL, p);
	print_causes(&r->measured, sent.known ? sent.bytes : 0, p);
}

/* "1,312 words", or "words not measured" with the reason. */
static void say_count(const struct watch_record *r, enum count count, const char *what, char *line,
		      size_t size)
{
	struct figure f = figure_count(&r->total.moved, count);
	size_t used = strlen(line);
	char number[32];

	bool least = r->total.moved.unseen_completions && (count == COUNT_completed_sends || count == COUNT_copied_sends);

	number_text(f.bytes, number);
	if (f.known)
		snprintf(line + used, size - used, "%s%s%s %s", used ? ", " : "", least ? "at least " : "", number, what);
	else
		snprintf(line + used, size - used, "%s%s not measured (%s)", used ? ", " : "", what,
			 r->count_why[count]);
}

static void print_completions(const struct watch_record *r, const struct report_page *p)
{
	char line[1200] = "";

	say_count(r, COUNT_zerocopy_asked_sends, "asked", line, sizeof(line));
	say_count(r, COUNT_zerocopy_sends, "made", line, sizeof(line));
	say_count(r, COUNT_completed_sends, "completed", line, sizeof(line));
	say_count(r, COUNT_copied_sends, "of them as COPIED", line, sizeof(line));
	page_text(p, "\nzero copy      sends: ", line, 15);
}

static void print_pins(const struct watch_record *r, const struct report_page *p)
{
	const struct watch_balance *now = &r->total.closing;
	char pages[32], peak[32], line[200];

	number_text(now->item[WATCH_referenced_pages], pages);
	number_text(r->referenced_peak_pages, peak);
	if (!(now->known >> WATCH_referenced_pages & 1))
		snprintf(line, sizeof(line), "pages referenced: not measured, as a queue was not read to its end");
	else
		snprintf(line, sizeof(line), "pages referenced: %s now, %s at most in any reading", pages,
			 peak);
	page_text(p, "               ", line, 15);
}

/*
 * ENOBUFS        3 sends refused, 3 by option memory (net.core.optmem_max), 0 by RLIMIT_MEMLOCK
 *                too many notifications are outstanding: read completions sooner, or raise ...
 */
static void print_refusals(const struct watch_record *r, const struct report_page *p)
{
	char line[600] = "";

	if (!r->total.moved.count[COUNT_enobufs])
		return;
	say_count(r, COUNT_enobufs, "sends refused", line, sizeof(line));
	say_count(r, COUNT_refused_optmem, "by option memory (net.core.optmem_max)", line, sizeof(line));
	say_count(r, COUNT_refused_memlock, "by RLIMIT_MEMLOCK", line, sizeof(line));
	page_text(p, "ENOBUFS        ", line, 15);
	for (int i = 0; i < r->cause_count; i++)
		if (!r->causes[i].bytes_known)
			page_text(p, "               ", r->causes[i].remedy, 15);
}

static void print_zerocopy(const struct watch_record *r, const struct report_page *p)
{
	const struct watch_movements *m = &r->total.moved;

	if (!m->count[COUNT_zerocopy_asked_sends] && !m->site_bytes[SITE_tx_reference] &&
	    !m->count[COUNT_zerocopy_sends] &&
	    !m->count[COUNT_enobufs] && !r->total.opening.item[WATCH_zerocopy_sends])
		return;
	print_completions(r, p);
	print_pins(r, p);
	print_refusals(r, p);
}

/* What becomes of a datagram behind its socket is told by its receiver, if that is watched, too. */
static bool sent_datagrams(const struct watch_record *r)
{
	for (int i = 0; i < r->socket_count; i++)
		if (r->sockets[i].datagrams && r->sockets[i].moved.count[COUNT_accepted_bytes])
			return true;
	return false;
}

/* udp_send_skb() refuses what ip_make_skb() has copied. */
static void print_failed_bytes(const struct watch_record *r, const struct report_page *p)
{
	char line[160], bytes[32];

	bytes_text(r->total.moved.failed_bytes, bytes);
	snprintf(line, sizeof(line), r->backend == BACKEND_TRAMPOLINE ? "EIO: %s were copied for nothing" :
		 "EIO: they were copied for nothing; how much it was no tracepoint tells", bytes);
	page_text(p, "               ", line, 15);
}

/* failed sends   100 with EIO, 3 with ECONNREFUSED: their datagrams were copied and thrown away, or never made */
static void print_failed(const struct watch_record *r, const struct report_page *p)
{
	char line[600] = "", count[32];

	for (enum watch_failure error = 0; error < WATCH_FAILURE_COUNT; error++) {
		size_t used = strlen(line);

		if (!r->total.moved.failed_sends[error])
			continue;
		number_text(r->total.moved.failed_sends[error], count);
		snprintf(line + used, sizeof(line) - used, "%s%s with %s", used ? ", " : "", count, watch_failure_name(error));
	}
	if (!*line)
		return;
	page_text(p, "\nfailed sends   ", line, 15);
	if (r->total.moved.failed_sends[WATCH_FAILURE_EIO])
		print_failed_bytes(r, p);
	if (r->total.moved.failed_sends[WATCH_FAILURE_EIO])
		page_text(p, "               ", "EIO: UDP_SEGMENT needs a device that computes checksums before 6.11 "
			  "(ethtool -K DEV tx on)", 15);
}

/* datagrams      94,139 bytes dropped before these sockets read them, 0 bytes that did not fit the reader's buffer */
static void print_datagrams(const struct watch_record *r, const struct report_page *p)
{
	const struct watch_movements *m = &r->total.moved;
	uint64_t both = 1ull << COUNT_dropped_bytes | 1ull << COUNT_truncated_bytes;
	char line[600] = "";

	if ((m->counts_known & both) == both && !m->count[COUNT_dropped_bytes] && !m->count[COUNT_truncated_bytes])
		return;
	say_count(r, COUNT_dropped_bytes, "bytes dropped that were for these sockets", line, sizeof(line));
	say_count(r, COUNT_truncated_bytes, "bytes that did not fit the reader's buffer", line, sizeof(line));
	page_text(p, "\ndatagrams      ", line, 15);
	if (sent_datagrams(r))
		page_text(p, "               ", "of what these sockets sent, drops on the way and at receivers that are not "
			  "watched: not measured", 15);
}

/*
 * kernel TLS     sent: 94,139 bytes of plaintext, 23 records, 506 bytes longer, 94,645 at TCP
 *                received: ...
 */
static void print_tls(const struct watch_record *r, const struct report_page *p)
{
	const unsigned long long *count = r->total.moved.count;
	char sent[600] = "", received[600] = "";

	if (!count[COUNT_tls_sent_records] && !count[COUNT_tls_received_records])
		return;
	say_count(r, COUNT_tls_accepted_bytes, "bytes of plaintext", sent, sizeof(sent));
	say_count(r, COUNT_tls_sent_records, "records", sent, sizeof(sent));
	say_count(r, COUNT_tls_sent_overhead_bytes, "bytes of record overhead", sent, sizeof(sent));
	say_count(r, COUNT_tls_carried_bytes, "bytes at TCP", sent, sizeof(sent));
	say_count(r, COUNT_tls_received_bytes, "bytes of plaintext", received, sizeof(received));
	say_count(r, COUNT_tls_received_records, "records", received, sizeof(received));
	say_count(r, COUNT_tls_received_overhead_bytes, "bytes of record overhead", received, sizeof(received));
	page_text(p, "\nkernel TLS     sent: ", sent, 15);
	page_text(p, "               received: ", received, 15);
}

/* Of all sockets: the calls name those of MPTCP, and the books those of TCP. */
static void print_mptcp_copies(const struct watch_record *r, const struct report_page *p)
{
	char line[WHY_BYTES + 80], copied[32];

	bytes_text(r->mptcp_copied, copied);
	if (*r->mptcp_why)
		snprintf(line, sizeof(line), "how much it copied that was sent: not measured (%s)", r->mptcp_why);
	else
		snprintf(line, sizeof(line), "it copied all %s that sends gave it, also by sendfile and MSG_ZEROCOPY", copied);
	page_text(p, "               ", line, 15);
}

/*
 * MPTCP          token 1a2b3c4d of python3, pid 812: 94.1 kB sent and 0 B received by 2 subflows
 */
static void print_mptcp(const struct watch_record *r, int top, const struct report_page *p)
{
	struct watch_mptcp *all;
	int count = watch_mptcp_sums(r, &all);

	for (int i = 0; i < count && i < top; i++) {
		char name[WATCH_NAME_BYTES], line[WATCH_NAME_BYTES + 160], sent[32], received[32];

		process_name(&all[i].owner, all[i].comm, name);
		bytes_text(all[i].sent_bytes, sent);
		bytes_text(all[i].received_bytes, received);
		snprintf(line, sizeof(line), "token %08x of %s: %s sent and %s received by %llu subflow%s", all[i].token,
			 name, sent, received, (unsigned long long)all[i].subflows, all[i].subflows == 1 ? "" : "s");
		page_text(p, i ? "               " : "\nMPTCP          ", line, 15);
	}
	if (count > top)
		fprintf(p->out, "%15s%d more: --top %d\n", "", count - top, count);
	if (count > 0)
		print_mptcp_copies(r, p);
	free(all);
}

static void item_text(const struct watch_balance *b, enum watch_balance_item item, char text[32])
{
	if (b->known >> item & 1)
		number_text(b->item[item], text);
	else
		strcpy(text, "cannot be read");
}

/* What a socket still held when it was reset or closed will neither be sent nor read. */
static uint64_t lost_with_sockets(const struct watch_record *r, enum watch_balance_item item)
{
	uint64_t held = r->total.closing.item[item], open = 0;

	for (int i = 0; i < r->socket_count; i++)
		if (!r->sockets[i].died && !r->sockets[i].apart)
			open += r->sockets[i].closing.item[item];
	return r->total.closing.known >> item & 1 && item <= WATCH_unread_bytes && held > open ? held - open : 0;
}

/*
 * what sockets held       at the start       at the end
 * unacked_bytes                 65,536                0  sent, and not acknowledged yet
 */
static void print_balances(const struct watch_record *r, const struct report_page *p)
{
	static const char *const meanings[] = {
#define BALANCE_MEANING(name, meaning) meaning,
		WATCH_BALANCES(BALANCE_MEANING)
#undef BALANCE_MEANING
	};
	const struct watch_balance *opening = &r->total.opening, *closing = &r->total.closing;
	bool any = false;

	for (enum watch_balance_item i = 0; i < WATCH_BALANCE_COUNT; i++) {
		char left[32], right[32], line[96], lost[32], meaning[160];

		if (opening->known & closing->known & 1u << i && !opening->item[i] && !closing->item[i])
			continue;
		if (!any)
			fprintf(p->out, "\n%-18s %15s %15s\n", "what sockets held", "at the start", "at the end");
		any = true;
		item_text(opening, i, left);
		item_text(closing, i, right);
		snprintf(line, sizeof(line), "%-18s %15s %15s  ", watch_balance_name(i), left, right);
		number_text(lost_with_sockets(r, i), lost);
		snprintf(meaning, sizeof(meaning), strcmp(lost, "0") ?
			 "%s; %s of these were lost with sockets that closed" : "%s", meanings[i], lost);
		page_text(p, line, meaning, 52);
	}
	if (!any)
		fprintf(p->out, "\nNo socket held unsent, unacknowledged or unread bytes at the start or the end.\n");
}

/* Not testable for some sockets, and balanced for the others. */
static bool is_partly_balanced(const struct law *law)
{
	return law->status == LAW_BALANCED && *law->why;
}

/* The laws that were not testable for some sockets for this reason, once. */
static void print_partly(const struct watch_record *r, int at, const struct report_page *p)
{
	char names[200] = "", why[WHY_BYTES + 32];

	for (int i = 0; i < r->law_count; i++) {
		if (!is_partly_balanced(&r->laws[i]) || strcmp(r->laws[i].why, r->laws[at].why))
			continue;
		if (i < at)
			return;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 *names ? ", " : "", r->laws[i].name);
	}
	print_labelled(p, "partly tested", names);
	snprintf(why, sizeof(why), "%s; balanced for the others", r->laws[at].why);
	print_labelled(p, "", why);
}

static void print_laws(const struct watch_record *r, const struct report_page *p)
{
	char names[300] = "", line[400];
	int balanced = 0, laws = r->law_count;

	for (int i = 0; i < r->law_count; i++) {
		if (watch_law_is_idle(r, i)) {
			laws--;
			continue;
		}
		if (r->laws[i].status != LAW_BALANCED || *r->laws[i].why)
			continue;
		balanced++;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 *names ? ", " : "", r->laws[i].name);
	}
	snprintf(line, sizeof(line), "%d of %d balance to the byte, for every socket: %s", balanced,
		 laws, names);
	page_tinted(p, watch_laws_broken(r) ? TINT_BAD : balanced ? TINT_GOOD : TINT_BOLD, "\nlaws           ",
		    balanced ? line : "none balances for every socket", 15);
	print_law_rows(&r->measured, p);
	for (int i = 0; i < r->law_count; i++)
		if (is_partly_balanced(&r->laws[i]))
			print_partly(r, i, p);
}

static void print_cost(const struct watch_record *r, const struct report_page *p)
{
	const struct overhead *o = &r->overhead.programs;
	char line[300], events[32], memory[16];
	int used;

	number_text(o->events, events);
	bytes_text(r->overhead.memory_bytes, memory);
	if (o->known)
		used = snprintf(line, sizeof(line), "%s events of %.0f ns, %.2f %% of the time of %d CPU%s",
				events, o->ns_per_event, 100 * o->share, r->machine.cpus,
				r->machine.cpus == 1 ? "" : "s");
	else if (o->events)
		used = snprintf(line, sizeof(line), "%s events, which the kernel did not time", events);
	else
		used = snprintf(line, sizeof(line), "events were not counted (sysctl "
				"kernel.bpf_stats_enabled=1 has the kernel count them)");
	snprintf(line + used, sizeof(line) - used, "; copyscope itself %.2f s of CPU, %s of tables",
		 r->overhead.own_cpu_ns / 1e9, memory);
	page_text(p, "\ncost of looking  ", line, 17);
}

static void print_gap(struct missing *m, const struct watch_gap *g)
{
	char text[WHY_BYTES + 120], sockets[32];

	number_text(g->sockets, sockets);
	if (g->seen && g->sockets)
		snprintf(text, sizeof(text), "%.60s, %s socket%s: %s", g->what, sockets,
			 g->sockets == 1 ? "" : "s", g->why);
	else
		snprintf(text, sizeof(text), "%.60s%s: %s", g->what, g->seen ? ", seen here" : "", g->why);
	print_missing_text(m, text);
}

static void print_loss(struct missing *m, uint64_t lost, const char *what, const char *why)
{
	char number[32], text[WHY_BYTES + 160];

	number_text(lost, number);
	snprintf(text, sizeof(text), "%s %s%s", number, what, why);
	if (lost)
		print_missing_text(m, text);
}

static void print_losses(struct missing *m, const struct watch_record *r)
{
	print_loss(m, r->lost_events, "events were lost: the sums are short of them", "");
	print_loss(m, r->unseen_events, "ends or changes of sockets of this machine: the kernel ran no program "
		   "for them, so sums may be short", "");
	print_loss(m, watch_unseen_firings(r), "packets or notifications of this machine: the kernel ran no program for them", "");
	print_loss(m, r->unbooked_sockets, "sockets were not counted: ", r->unbooked_why);
	print_loss(m, r->unopened_sockets, "sockets lay in network namespaces that were not entered: the sums "
		   "lack them", "");
	print_loss(m, r->folded_processes, "processes that ended are in the sums, and not in the record one by "
		   "one", "");
	print_loss(m, r->folded_sockets, "sockets that closed are in the sums, and not in the record one by one", "");
}

static void print_missing(const struct watch_record *r, const struct report_page *p)
{
	char would[400] = "not covered, and not noticed here: ";
	const size_t begun = strlen(would);
	struct missing missing = { .page = p };
	static struct lacks all;

	all.count = 0;
	lacks_of_sites(&all, &r->measured);
	lacks_of_laws(&all, &r->measured);
	print_losses(&missing, r);
	print_lacks(&missing, &all);
	for (int i = 0; i < r->gap_count; i++) {
		const struct watch_gap *g = &r->not_covered[i];

		if (g->seen)
			print_gap(&missing, g);
		else
			snprintf(would + strlen(would), sizeof(would) - strlen(would), "%s%s",
				 strlen(would) > begun ? ", " : "", g->what);
	}
	if (strlen(would) > begun)
		print_missing_text(&missing, would);
}

void watch_report_print(const struct watch_record *r, const struct watch_page *page)
{
	enum { PEERS_BESIDE = 5 };
	const struct report_page *p = &page->on;

	print_doubts(r, p);
	print_verdicts(r, page->top, p);
	print_head(r, p);
	print_bytes(r, p);
	print_zerocopy(r, p);
	print_datagrams(r, p);
	print_failed(r, p);
	print_tls(r, p);
	print_mptcp(r, page->top, p);
	cpu_report_print(r, page->top, p);
	sizes_report_print(r, page->top, p);
	stacks_report_print(r, page->top, p);
	if (print_rows(r, page, page->rows, page->top))
		page_text(p, "  ", "Most needless first, then most sent and received. copied: by send, by recv or in "
			  "between (>=: at least, as not all is known); no copy: sent by reference or spliced, and "
			  "seen to be handed over as pages; needless: sent by reference, or refused that by "
			  "UDP, and copied; -: not measured", 2);
	if (page->rows != ROWS_PEERS)
		print_rows(r, page, ROWS_PEERS, page->top < PEERS_BESIDE ? page->top : PEERS_BESIDE);
	print_balances(r, p);
	print_laws(r, p);
	print_cost(r, p);
	print_missing(r, p);
	fflush(p->out);
}

void watch_block_print(const struct watch_record *r, const struct watch_page *p)
{
	char why[WHY_BYTES];
	struct rows rows;

	if (rows_make(r, p->rows, p->order, true, &rows))
		return;
	fprintf(p->on.out, "%.1f s\n", r->window_ns / 1e9);
	if (watch_sums_short(r, why))
		page_tinted(&p->on, TINT_BAD, "Sums may be short: ", why, 2);
	page_rows(p, &rows, r->lately_ns);
	if (rows.count > p->top)
		fprintf(p->on.out, "%*s  %d more\n", 48, "", rows.count - p->top);
	fputc('\n', p->on.out);
	rows_free(&rows);
	fflush(p->on.out);
}
