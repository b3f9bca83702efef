// SPDX-License-Identifier: GPL-2.0
/* The part of the report that tells what the emulator's plugin counted. */
#include "userspace/report/modelled/modelled_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "userspace/common/text.h"
#include "userspace/record/experiment.h"

/* Of the accesses of a stretch, or of a message, those that missed each level. */
static void print_misses(const uint64_t *count, double by, FILE *out)
{
	for (int i = BELL_L1D_MISSES; i <= BELL_LLC_MISSES; i++)
		fprintf(out, " %11.2f", count[i] / by);
}

static void print_row(const char *name, const char *where, const uint64_t *count, double messages,
		      FILE *out)
{
	fprintf(out, "%-11s %-9s %13.1f", name, where, count[BELL_INSTRUCTIONS] / messages);
	print_misses(count, messages, out);
	fputc('\n', out);
}

static void print_ends(const struct modelled *m, double messages, FILE *out)
{
	for (unsigned int role = 0; role < BELL_ROLES; role++) {
		for (unsigned int context = 0; context < BELL_CONTEXTS; context++) {
			uint64_t count[BELL_COUNTS];

			/* What other tasks did besides has no message. */
			if (!role && context != BELL_SOFTIRQ)
				continue;
			for (int i = 0; i < BELL_COUNTS; i++)
				count[i] = model_sum(m, role, context, i);
			if (count[BELL_INSTRUCTIONS])
				print_row(model_role_name(role), model_context_name(context), count,
					  messages, out);
		}
	}
}

static void print_sites(const struct modelled *m, double messages, FILE *out)
{
	for (int site = MODEL_ELSEWHERE + 1; site < MODEL_SITES; site++) {
		uint64_t count[BELL_COUNTS] = { 0 };

		for (int cell = 0; cell < BELL_ROLES * BELL_CONTEXTS; cell++)
			for (int i = 0; i < BELL_COUNTS; i++)
				count[i] += m->count[cell / BELL_CONTEXTS][cell % BELL_CONTEXTS][site][i];
		if (count[BELL_INSTRUCTIONS])
			print_row(model_site_name(site), "site", count, messages, out);
	}
}

void modelled_print(const struct record *r, int columns, FILE *out)
{
	struct pass_view pass = record_shown(r);
	const struct modelled *m = pass.modelled;
	double messages;
	char line[256];

	if (!m->asked)
		return;
	if (!m->known) {
		print_folded(out, columns, "\nmodelled       not known: ", m->why, 15);
		return;
	}
	messages = pass.app[END_RECEIVER].sum.messages;
	if (!messages)
		return;
	snprintf(line, sizeof(line), "caches of %s by an emulator, not measured; instructions are exact",
		 m->caches.name);
	print_folded(out, columns, "\nmodelled       ", line, 15);
	fprintf(out, "%-11s %-9s %13s %11s %11s %11s\n", "a message", "", "instructions", "L1d misses",
		"L2 misses", "LLC misses");
	print_ends(m, messages, out);
	print_sites(m, messages, out);
}
