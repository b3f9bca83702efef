// SPDX-License-Identifier: GPL-2.0
/* The report's table of the processor's and the kernel's counters of both ends. */
#include <stdio.h>

#include "userspace/common/text.h"
#include "userspace/report/report_parts.h"

/* With the mark of a scaled number, or what keeps the column where another one has it. */
static void print_counter(const struct counter_value *v, enum counter_event event, const char *unmarked,
			  const struct report_page *p)
{
	char number[AMOUNT_BYTES];

	if (!v->known) {
		fprintf(p->out, " %17s%s", "not measured", unmarked);
		return;
	}
	if (event == COUNTER_TASK_CLOCK)
		elapsed_text(p, v->value, number);
	else
		number_text(v->value, number);
	fprintf(p->out, " %17s%s", number, v->scaled ? "*" : unmarked);
}

/*
 * counters                           sender           receiver
 * context-switches                    1,204              2,811
 */
void print_counters(const struct record *r, const struct report_page *p)
{
	struct pass_view pass = record_shown(r);
	bool scaled = false, any = false;
	char heads[80];

	snprintf(heads, sizeof(heads), "\n%-22s %17s  %17s", "counters", "sender", "receiver");
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *tx = &pass.counters[END_SENDER][i];
		const struct counter_value *rx = &pass.counters[END_RECEIVER][i];

		/* What neither end has is told at the end, once for its reason. */
		if (!tx->known && !rx->known)
			continue;
		if (!any)
			print_heads(p, heads);
		any = true;
		fprintf(p->out, "%-22s", counter_name(i));
		print_counter(tx, i, " ", p);
		print_counter(rx, i, "", p);
		fputc('\n', p->out);
		scaled |= tx->scaled || rx->scaled;
	}
	if (scaled)
		fprintf(p->out, "  * shared its hardware counter with others: scaled up\n");
}
