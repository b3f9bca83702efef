// SPDX-License-Identifier: GPL-2.0
/* The report's last part: what was not seen, once for each reason. */
#include <stdio.h>
#include <string.h>

#include "userspace/report/report_parts.h"

/* Sites, laws and counters that lack for one reason. */
struct lack {
	const char *why;
	char sites[200], laws[400], counters[200];
	int site_count, law_count, counter_count;
};

struct lacks {
	struct lack lack[SITE_COUNT + LAWS_MAX + COUNTER_COUNT + 2];
	int count;
};

/* Reasons in other words that one thing would end are one. */
static const char *reason_of(const char *why)
{
	static const char *const common[] = { "needs the trampoline backend",
					      "this law needs both ends to have finished" };
	static const char *const told[] = {
		"this kernel's tracepoints do not show that: run with --kernel 6.12",
		"the run did not end as it should, and these laws need both ends to have finished"
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (strstr(why, common[i]))
			return told[i];
	return why;
}

static struct lack *lack_for(struct lacks *all, const char *why)
{
	const char *reason = reason_of(why);

	for (int i = 0; i < all->count; i++)
		if (!strcmp(all->lack[i].why, reason))
			return &all->lack[i];
	all->lack[all->count] = (struct lack){ .why = reason };
	return &all->lack[all->count++];
}

static void add_name(char *names, size_t size, const char *name)
{
	size_t used = strlen(names);

	snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

static void find_sites(const struct record *r, struct lacks *all)
{
	struct lack *lack;

	for (enum site s = 0; s < SITE_COUNT; s++) {
		if (r->sites[s].how != HOW_NOT_MEASURED)
			continue;
		lack = lack_for(all, r->sites[s].why);
		add_name(lack->sites, sizeof(lack->sites), site_name(s));
		lack->site_count++;
	}
}

/* Why a law is not testable: if that is for want of a site, why there is none. */
static const char *law_why(const struct record *r, const struct law *law)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		char lacks[48];

		snprintf(lacks, sizeof(lacks), "%s is not measured", site_name(s));
		if (r->sites[s].how == HOW_NOT_MEASURED && !strcmp(law->why, lacks))
			return r->sites[s].why;
	}
	return law->why;
}

/* How many pages were pinned at once, and whether all were released. */
static void find_pins(const struct record *r, struct lacks *all)
{
	struct lack *lack;

	if (!r->derived.total.count[COUNT_zerocopy_sends] || r->pins.released_how != HOW_NOT_MEASURED ||
	    !*r->pins.why)
		return;
	lack = lack_for(all, r->pins.why);
	add_name(lack->sites, sizeof(lack->sites),
		 r->pins.how == HOW_NOT_MEASURED ? "pins" : "pins held at once and released");
}

static void find_laws(const struct record *r, struct lacks *all)
{
	struct lack *lack;

	/* Without probes most laws lack for the same reason, in the words of each. */
	for (int i = 0; i < r->law_count && r->backend != BACKEND_NONE; i++) {
		if (r->laws[i].status != LAW_NOT_TESTABLE)
			continue;
		lack = lack_for(all, law_why(r, &r->laws[i]));
		add_name(lack->laws, sizeof(lack->laws), r->laws[i].name);
		lack->law_count++;
	}
}

static void find_counters(const struct record *r, struct lacks *all)
{
	struct pass_view pass = record_shown(r);
	struct lack *lack;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *tx = &pass.counters[END_SENDER][i];

		if (tx->known || pass.counters[END_RECEIVER][i].known)
			continue;
		lack = lack_for(all, tx->why);
		add_name(lack->counters, sizeof(lack->counters), counter_name(i));
		lack->counter_count++;
	}
}

/* The kernel may run no program while certain tasks are current: perf's count of the packets tells. */
static void find_unchecked(const struct record *r, struct lacks *all)
{
	for (int i = 0; i < r->probe_count; i++) {
		const struct probe *p = &r->probes[i];
		struct lack *lack;

		if (p->status != PROBE_ATTACHED || p->perf_checked || strcmp(p->metric, "tx_copy"))
			continue;
		lack = lack_for(all, "perf counts no packets beside the programs, as it or tracefs refuses");
		add_name(lack->sites, sizeof(lack->sites), "whether a program ran for every packet");
		return;
	}
}

static void print_lack(const struct lack *lack, bool first, const struct report_page *p)
{
	char line[1200];

	snprintf(line, sizeof(line), "%s%s%s%s%s%s%s: %s",
		 lack->site_count == SITE_COUNT ? "all sites" : lack->sites,
		 *lack->sites && *lack->laws ? "; " : "",
		 !lack->law_count ? "" : lack->law_count == 1 ? "law " : "laws ", lack->laws,
		 *lack->counters && (*lack->sites || *lack->laws) ? "; " : "",
		 !lack->counter_count ? "" : lack->counter_count == 1 ? "counter " : "counters ", lack->counters,
		 lack->why);
	print_labelled(p, first ? "not seen" : "", line);
}

/*
 * not seen       tx_splice, reshape, rx_map; laws completion, pin: this kernel's tracepoints ...
 */
void print_missing(const struct record *r, const struct report_page *p)
{
	static struct lacks all;

	all.count = 0;
	find_sites(r, &all);
	find_pins(r, &all);
	find_laws(r, &all);
	find_counters(r, &all);
	find_unchecked(r, &all);
	if (all.count)
		fputc('\n', p->out);
	for (int i = 0; i < all.count; i++)
		print_lack(&all.lack[i], !i, p);
}
