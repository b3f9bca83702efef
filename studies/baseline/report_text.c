// SPDX-License-Identifier: GPL-2.0
/* The report for people: machine, warnings, the table, what is not a number and why. */
#include "studies/baseline/report.h"

#include <math.h>
#include <string.h>

#include "studies/baseline/estimate.h"
#include "studies/baseline/families/families.h"
#include "userspace/common/text.h"

/* Four digits that count, without an exponent. */
static const char *figure(double value, char text[16])
{
	int before = fabs(value) < 1 ? 1 : (int)log10(fabs(value)) + 1;

	if (!isfinite(value))
		return "-";
	snprintf(text, 16, "%.*f", before < 4 ? 4 - before : 0, value);
	return text;
}

/* "found           L1d 32 KiB 1.100 ns, L2 768 KiB 4.300 ns, ... by the curve of latency" */
static void print_levels(const struct machine_info *m, FILE *out)
{
	static const char *const names[LEVELS] = { "L1d", "L2", "L3", "memory beyond" };
	const char *before = "found           ";
	char ns[16];

	for (int i = 0; i < LEVELS; i++) {
		const struct level *level = &m->levels.of[i];
		uint64_t bytes = i == LEVEL_MEMORY ? level->from_bytes : level->to_bytes;

		if (!level->ns)
			continue;
		fprintf(out, "%s%s %llu KiB %s ns", before, names[i],
			(unsigned long long)bytes >> 10, figure(level->ns, ns));
		before = ", ";
	}
	if (*before == ',')
		fputs(", by the curve of latency\n", out);
}

static void print_machine(const struct suite *s, FILE *out)
{
	const struct machine_info *m = &s->machine;
	const struct protocol *p = &s->settings.protocol;

	fprintf(out, "%s, %d CPUs (%s), kernel %s\n", m->common.cpu_model, m->common.cpus,
		m->common.virt, m->common.kernel);
	fprintf(out, "caches          L1d %llu KiB, L1i %llu KiB, L2 %llu KiB, L3 %llu KiB\n",
		(unsigned long long)m->l1d_bytes >> 10, (unsigned long long)m->l1i_bytes >> 10,
		(unsigned long long)m->l2_bytes >> 10, (unsigned long long)m->l3_bytes >> 10);
	print_levels(m, out);
	fprintf(out, "memory          %llu MiB, %llu MiB available, module %s\n",
		(unsigned long long)m->common.memory_bytes >> 20,
		(unsigned long long)m->available_bytes >> 20, *m->memory ? m->memory : "not told");
	fprintf(out, "disk            %s on %s (%s), %llu MiB free\n", m->dir_fs, m->disk, m->disk_bus,
		(unsigned long long)m->disk_free_bytes >> 20);
	fprintf(out, "network card    %s (%s)", m->nic, m->nic_bus);
	fprintf(out, m->nic_mbit > 0 ? ", %d Mbit/s\n" : ", rate not told\n", m->nic_mbit);
	fprintf(out, "clock           %.4f GHz, core ", m->clock_ghz);
	fprintf(out, m->core_ghz ? "%.4f GHz by a chain of additions\n" : "not measured\n",
		m->core_ghz);
	fprintf(out, "protocol        %s, %d rounds of %d runs, %.0f s\n",
		p->quick ? "quick" : "full", p->rounds, p->runs,
		s->seconds);
}

static void print_row(const struct suite *s, const struct outcome *o, FILE *out)
{
	struct estimate e = estimate_row(o->row->name, &s->machine, &s->settings.protocol);
	char hardware[16], software[16], prediction[16], value[16], low[16], high[16], sd[16];

	fprintf(out, "%-20s %-6s %8s %8s %9s ", o->row->name, o->row->unit,
		figure(e.hardware, hardware), figure(e.software, software),
		figure(e.hardware + e.software, prediction));
	if (o->status == NOT_MEASURED)
		fprintf(out, "not measured\n");
	else if (o->status == INVALID)
		fprintf(out, "INVALID\n");
	else
		fprintf(out, "%9s %9s..%-9s %8s%s\n", figure(o->spread.median, value),
			figure(o->spread.low, low), figure(o->spread.high, high),
			figure(o->spread.sd, sd), o->status == UNCHECKED ? " unproved" : "");
}

static const struct outcome *measured_row(const struct suite *s, const char *name)
{
	for (int i = 0; i < s->row_count; i++)
		if (!strcmp(s->rows[i].row->name, name) && s->rows[i].spread.n)
			return &s->rows[i];
	return NULL;
}

/* "memory-read is 0.91 of the best known loop, ram-read-avx512 at 14.62 GB/s" */
static void print_share(const struct suite *s, const char *row, const char *loops, FILE *out)
{
	const struct outcome *plain = measured_row(s, row), *best = NULL;
	char text[16];

	for (int i = 0; i < s->row_count; i++) {
		const struct outcome *o = &s->rows[i];

		if (!strncmp(o->row->name, loops, strlen(loops)) && o->spread.n &&
		    (!best || o->spread.median > best->spread.median))
			best = o;
	}
	if (plain && best)
		fprintf(out, "%s is %.2f of the best known loop, %s at %s GB/s\n", row,
			plain->spread.median / best->spread.median, best->row->name,
			figure(best->spread.median, text));
}

static void print_shares(const struct suite *s, FILE *out)
{
	if (measured_row(s, "ram-read-plain"))
		fputc('\n', out);
	print_share(s, "memory-read", "ram-read-", out);
	print_share(s, "memory-write", "ram-write-", out);
	print_share(s, "memory-copy", "ram-copy-", out);
}

static bool same_reason(const struct outcome *a, const struct outcome *b)
{
	return a->status == b->status && !strcmp(a->why, b->why);
}

/* "call-0, call-1 not measured: reason", each reason once. */
static void print_reason(const struct suite *s, int at, FILE *out)
{
	static const char *const became[] = {
		[NOT_MEASURED] = "not measured", [INVALID] = "INVALID", [UNCHECKED] = "unproved",
	};
	const struct outcome *o = &s->rows[at];
	char text[4096];
	size_t used = 0;

	for (int i = 0; i < at; i++)
		if (same_reason(&s->rows[i], o))
			return;
	for (int i = at; i < s->row_count && used < sizeof(text); i++)
		if (same_reason(&s->rows[i], o))
			used += snprintf(text + used, sizeof(text) - used, "%s%s",
					 i > at ? ", " : "", s->rows[i].row->name);
	if (used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, " %s: %s", became[o->status], o->why);
	print_wrapped(out, "", text, 2);
}

void suite_text_print(const struct suite *s, FILE *out)
{
	int held = 0;

	for (int i = 0; i < s->row_count; i++)
		held += s->rows[i].status == VALID;
	fprintf(out, "%d of %d rows measured and proved by their counters.\n\n", held, s->row_count);
	print_machine(s, out);
	for (int i = 0; i < s->warnings.count; i++)
		print_wrapped(out, i ? "" : "\n", s->warnings.sentence[i], 2);
	fprintf(out, "\n%-20s %-6s %8s %8s %9s %9s %20s %8s\n", "row", "unit", "hardware",
		"software", "predicted", "measured", "interval      ", "sd");
	for (int i = 0; i < s->row_count; i++)
		print_row(s, &s->rows[i], out);
	print_shares(s, out);
	if (held < s->row_count)
		fputc('\n', out);
	for (int i = 0; i < s->row_count; i++)
		if (s->rows[i].status != VALID)
			print_reason(s, i, out);
}

void family_list_print(FILE *out)
{
	for (const struct family *const *f = families; *f; f++) {
		fprintf(out, "%s%s\n", (*f)->name, (*f)->root ? " (needs root)" : "");
		for (int i = 0; i < (*f)->count; i++)
			fprintf(out, "  %-22s %s\n", (*f)->rows[i].name, (*f)->rows[i].title);
	}
}
