// SPDX-License-Identifier: GPL-2.0
/* The report for people: verdict, times, sites, causes, pins, laws, counters, cost, what is missing. */
#include "userspace/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/verdict.h"
#include "userspace/report/modelled/modelled_print.h"
#include "userspace/report/report_parts.h"

static void print_verdict(const struct record *r, const struct report_page *p)
{
	char verdict[VERDICT_BYTES];

	verdict_told(r, p->exact, verdict, sizeof(verdict));
	tint_begin(p, verdict_passed(r) ? TINT_BOLD : TINT_BAD);
	print_folded(p->out, p->columns, "", verdict, 0);
	tint_end(p);
}

static void add_kernel(char *line, size_t size, const char *before, const struct record *r)
{
	bool none = r->backend == BACKEND_NONE;
	size_t used = strlen(line);

	snprintf(line + used, size - used, "%skernel %s, %s%s", before, r->machine.kernel,
		 none ? "no probes" : backend_name(r->backend), none ? "" : " backend");
}

/* 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, kernel 6.12.95, trampoline backend */
static void print_head(const struct record *r, const struct report_page *p)
{
	const struct experiment *x = r->experiment;
	const struct record *far = record_far(r);
	char messages[AMOUNT_BYTES], bytes[AMOUNT_BYTES], line[384];

	number_text(record_app(r, END_RECEIVER)->sum.messages, messages);
	number_text(x->plan.bytes, bytes);
	snprintf(line, sizeof(line), "%s message%s of %s bytes, %d connection%s, %s, path %s, ", messages,
		 strcmp(messages, "1") ? "s" : "", bytes, x->plan.threads, x->plan.threads == 1 ? "" : "s",
		 x->plan.pattern, x->path.kind);
	add_kernel(line, sizeof(line), "", r);
	if (far)
		add_kernel(line, sizeof(line), "; to ", far);
	print_folded(p->out, p->columns, "\n", line, 0);
}

void report_print(const struct record *r, const struct report_page *p)
{
	print_verdict(r, p);
	print_head(r, p);
	print_timing(r, p);
	print_sites(r, p);
	print_causes(r, p);
	print_zerocopy(r, p);
	print_laws(r, p);
	print_counters(r, p);
	modelled_print(r, p->columns, p->out);
	print_costs(r, p);
	print_overhead(r, p);
	print_missing(r, p);
}
