// SPDX-License-Identifier: GPL-2.0
/* The report's part on laws: one line if all balance, else each broken one with both sides. */
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/report/report_parts.h"

enum { NAME_COLUMNS = 23, SIDE_COLUMNS = 17, RESIDUAL_COLUMNS = 10 };

static void print_law(const struct law *law, const struct report_page *p)
{
	char left[AMOUNT_BYTES], right[AMOUNT_BYTES], residual[AMOUNT_BYTES];

	number_text(law->left, left);
	number_text(law->right, right);
	number_text(law->residual, residual);
	if (law->status == LAW_BROKEN)
		tint_begin(p, TINT_BAD);
	fprintf(p->out, "%-*s %-8s %*s %*s %*s", NAME_COLUMNS, law->name, law_status_name(law->status),
		SIDE_COLUMNS, left, SIDE_COLUMNS, right, RESIDUAL_COLUMNS, residual);
	if (law->status == LAW_BROKEN)
		tint_end(p);
	fputc('\n', p->out);
	if (p->laws || law->status == LAW_BROKEN) {
		char sides[320];

		snprintf(sides, sizeof(sides), "left: %s; right: %s", law->left_is, law->right_is);
		print_folded(p->out, p->columns, "    ", sides, 4);
	}
	if (law->status == LAW_BROKEN && *law->why)
		print_folded(p->out, p->columns, "    ", law->why, 4);
}

/* What there is to say of all of them. */
static void sum_up(int tested, int broken, const struct report_page *p, char *line, size_t size)
{
	if (!tested)
		snprintf(line, size, "none could be tested");
	else if (broken)
		snprintf(line, size, "%d of the %d that can be tested %s broken: do not trust this run", broken,
			 tested, broken == 1 ? "is" : "are");
	else
		snprintf(line, size, "%s %d law%s that can be tested balance%s to the byte%s",
			 tested == 1 ? "the" : "all", tested, tested == 1 ? "" : "s",
			 tested == 1 ? "s" : "", p->laws ? "" : "; --laws lists them");
}

/*
 * laws           all 11 laws that can be tested balance to the byte; --laws lists them
 */
void print_laws(const struct record *r, const struct report_page *p)
{
	int tested = 0, broken = 0;
	char line[160], heads[160];

	for (int i = 0; i < r->law_count; i++) {
		tested += r->laws[i].status != LAW_NOT_TESTABLE;
		broken += r->laws[i].status == LAW_BROKEN;
	}
	if (!tested && r->backend == BACKEND_NONE)
		return;
	sum_up(tested, broken, p, line, sizeof(line));
	fputc('\n', p->out);
	tint_begin(p, broken ? TINT_BAD : tested ? TINT_GOOD : TINT_BOLD);
	print_labelled(p, "laws", line);
	tint_end(p);
	if (!broken && !(p->laws && tested))
		return;
	snprintf(heads, sizeof(heads), "%-*s %-8s %*s %*s %*s", NAME_COLUMNS, "law", "", SIDE_COLUMNS, "left",
		 SIDE_COLUMNS, "right", RESIDUAL_COLUMNS, "residual");
	print_heads(p, heads);
	for (int i = 0; i < r->law_count; i++)
		if (r->laws[i].status == LAW_BROKEN || (p->laws && r->laws[i].status == LAW_BALANCED))
			print_law(&r->laws[i], p);
}
