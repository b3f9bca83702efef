// SPDX-License-Identifier: GPL-2.0
/* The report's balances, laws, its own cost, and what was not seen. */
#include <inttypes.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/report/report.h"
#include "userspace/watch/report/report_parts.h"

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
		if (!r->sockets[i].died && !r->sockets[i].layer)
			open += r->sockets[i].closing.item[item];
	return item <= WATCH_unread_bytes && held > open ? held - open : 0;
}

/*
 * what sockets held       at the start       at the end
 * unacked_bytes                 65,536                0  sent, and not acknowledged yet
 */
void print_watched_balances(const struct watch_record *r, const struct page *p)
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

static void print_broken(const struct law *law, const struct page *p)
{
	char left[32], right[32], residual[32], line[160];

	number_text(law->left, left);
	number_text(law->right, right);
	number_text(law->residual, residual);
	snprintf(line, sizeof(line), "BROKEN: left %s, right %s, residual %s", left, right, residual);
	fprintf(p->out, "law %s\n", law->name);
	page_text(p, "  ", line, 2);
	page_text(p, "  left: ", law->left_is, 8);
	page_text(p, "  right: ", law->right_is, 9);
	if (*law->why)
		page_text(p, "  ", law->why, 2);
}

/* Not testable for some sockets, and balanced for the others. */
static bool is_partly_balanced(const struct law *law)
{
	return law->status == LAW_BALANCED && *law->why;
}

static bool is_alike(const struct law *a, const struct law *b)
{
	return a->status == b->status && !strcmp(a->why, b->why);
}

/* The laws that were not testable for this reason, once. */
static void print_untested(const struct watch_record *r, int at, const struct page *p)
{
	bool partly = is_partly_balanced(&r->laws[at]);
	char names[200] = "", why[WHY_BYTES + 32];

	for (int i = 0; i < at; i++)
		if (is_alike(&r->laws[i], &r->laws[at]))
			return;
	for (int i = at; i < WATCH_LAW_COUNT; i++)
		if (is_alike(&r->laws[i], &r->laws[at]))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 *names ? ", " : "", r->laws[i].name);
	fprintf(p->out, "%-14s %s\n", partly ? "partly tested" : "not testable", names);
	snprintf(why, sizeof(why), "%s%s", r->laws[at].why, partly ? "; balanced for the others" : "");
	page_text(p, "               ", why, 15);
}

void print_watched_laws(const struct watch_record *r, const struct page *p)
{
	char names[200] = "", line[300];
	int balanced = 0;

	for (int i = 0; i < WATCH_LAW_COUNT; i++) {
		if (r->laws[i].status != LAW_BALANCED || *r->laws[i].why)
			continue;
		balanced++;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 *names ? ", " : "", r->laws[i].name);
	}
	snprintf(line, sizeof(line), "%d of %d balance to the byte, for every socket: %s", balanced,
		 WATCH_LAW_COUNT, names);
	page_tinted(p, watch_laws_broken(r) ? TINT_BAD : balanced ? TINT_GOOD : TINT_BOLD, "\nlaws           ",
		    balanced ? line : "none balances", 15);
	for (int i = 0; i < WATCH_LAW_COUNT; i++) {
		if (r->laws[i].status == LAW_BROKEN)
			print_broken(&r->laws[i], p);
		if (r->laws[i].status == LAW_NOT_TESTABLE || is_partly_balanced(&r->laws[i]))
			print_untested(r, i, p);
	}
}

void print_watched_cost(const struct watch_record *r, const struct page *p)
{
	const struct watch_overhead *o = &r->overhead;
	char line[300], events[32], memory[16];
	int used;

	number_text(o->events, events);
	bytes_text(o->memory_bytes, memory);
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
		 o->own_cpu_ns / 1e9, memory);
	page_text(p, "\ncost of looking  ", line, 17);
}

/* Sites that were not measured for one reason are one line. */
static void print_unmeasured(const struct watch_record *r, enum site at, const struct page *p)
{
	char first[200] = "  ";

	for (enum site s = 0; s < at; s++)
		if (r->sites[s].how == HOW_NOT_MEASURED && !strcmp(r->sites[s].why, r->sites[at].why))
			return;
	for (enum site s = at; s < SITE_COUNT; s++)
		if (r->sites[s].how == HOW_NOT_MEASURED && !strcmp(r->sites[s].why, r->sites[at].why))
			snprintf(first + strlen(first), sizeof(first) - strlen(first), "%s%s",
				 first[2] ? ", " : "", site_name(s));
	strcat(first, ": ");
	page_text(p, first, r->sites[at].why, 4);
}

static void print_gap(const struct watch_gap *g, const struct page *p)
{
	char first[120], sockets[32];

	number_text(g->sockets, sockets);
	if (g->seen && g->sockets)
		snprintf(first, sizeof(first), "  %.60s, %s socket%s: ", g->what, sockets,
			 g->sockets == 1 ? "" : "s");
	else
		snprintf(first, sizeof(first), "  %.60s%s: ", g->what, g->seen ? ", seen here" : "");
	page_text(p, first, g->why, 4);
}

static void print_losses(const struct watch_record *r, const struct page *p)
{
	char number[32], first[80];

	number_text(r->lost_events, number);
	if (r->lost_events)
		fprintf(p->out, "  %s events were lost: the sums are short of them\n", number);
	number_text(r->unseen_events, number);
	if (r->unseen_events)
		fprintf(p->out, "  %s ends or changes of sockets of this machine: the kernel ran no program\n"
			"    for them, so sums may be short\n", number);
	number_text(r->unbooked_sockets, number);
	snprintf(first, sizeof(first), "  %s sockets were not counted: ", number);
	if (r->unbooked_sockets)
		page_text(p, first, r->unbooked_why, 4);
	number_text(r->unopened_sockets, number);
	if (r->unopened_sockets)
		fprintf(p->out, "  %s sockets lay in network namespaces that were not entered: the sums lack them\n",
			number);
	number_text(r->folded_processes, number);
	if (r->folded_processes)
		fprintf(p->out, "  %s processes that ended are in the sums, and not in the record one by one\n",
			number);
	number_text(r->folded_sockets, number);
	if (r->folded_sockets)
		fprintf(p->out, "  %s sockets that closed are in the sums, and not in the record one by one\n", number);
}

static bool nothing_is_missing(const struct watch_record *r)
{
	bool missing = r->gap_count || r->lost_events || r->unseen_events || r->unbooked_sockets ||
		       r->folded_sockets || r->folded_processes || r->unopened_sockets;

	for (enum site s = 0; s < SITE_COUNT; s++)
		missing |= r->sites[s].how == HOW_NOT_MEASURED;
	return !missing;
}

void print_not_watched(const struct watch_record *r, const struct page *p)
{
	char would[400] = "";

	if (nothing_is_missing(r))
		return;
	fprintf(p->out, "\nnot seen\n");
	print_losses(r, p);
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (r->sites[s].how == HOW_NOT_MEASURED)
			print_unmeasured(r, s, p);
	for (int i = 0; i < r->gap_count; i++) {
		const struct watch_gap *g = &r->not_covered[i];

		if (g->seen)
			print_gap(g, p);
		else
			snprintf(would + strlen(would), sizeof(would) - strlen(would), "%s%s",
				 *would ? ", " : "", g->what);
	}
	if (*would)
		page_text(p, "  not covered, and not noticed here: ", would, 4);
}
