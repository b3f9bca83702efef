// SPDX-License-Identifier: GPL-2.0
/* Tells what was not seen: sites, laws and counters that lack for one reason are one paragraph. */
#include "userspace/report/missing.h"

#include <stdio.h>
#include <string.h>

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

struct lack *lack_for(struct lacks *all, const char *why)
{
	const char *reason = reason_of(why);

	for (int i = 0; i < all->count; i++)
		if (!strcmp(all->lack[i].why, reason))
			return &all->lack[i];
	all->lack[all->count] = (struct lack){ .why = reason };
	return &all->lack[all->count++];
}

void lack_name(char names[LACK_NAMES_BYTES], const char *name)
{
	size_t used = strlen(names);

	snprintf(names + used, LACK_NAMES_BYTES - used, "%s%s", used ? ", " : "", name);
}

void lacks_of_sites(struct lacks *all, const struct measured *m)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		struct lack *lack;

		if (m->sites[s].how != HOW_NOT_MEASURED)
			continue;
		lack = lack_for(all, m->sites[s].why);
		lack_name(lack->sites, site_name(s));
		lack->site_count++;
	}
}

/* Why a law is not testable: if that is for want of a site, why there is none. */
static const char *law_why(const struct site_value sites[SITE_COUNT], const struct law *law)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		char lacks[48];

		snprintf(lacks, sizeof(lacks), "%s is not measured", site_name(s));
		if (sites[s].how == HOW_NOT_MEASURED && !strcmp(law->why, lacks))
			return sites[s].why;
	}
	return law->why;
}

void lacks_of_laws(struct lacks *all, const struct measured *m)
{
	for (int i = 0; i < m->law_count; i++) {
		struct lack *lack;

		if (m->laws[i].status != LAW_NOT_TESTABLE)
			continue;
		lack = lack_for(all, law_why(m->sites, &m->laws[i]));
		lack_name(lack->laws, m->laws[i].name);
		lack->law_count++;
	}
}

void print_missing_text(struct missing *m, const char *text)
{
	if (!m->any)
		fputc('\n', m->page->out);
	print_labelled(m->page, m->any ? "" : "not seen", text);
	m->any = true;
}

static void print_lack(struct missing *m, const struct lack *lack)
{
	char line[3 * LACK_NAMES_BYTES + WHY_BYTES];

	snprintf(line, sizeof(line), "%s%s%s%s%s%s%s: %s",
		 lack->site_count == SITE_COUNT ? "all sites" : lack->sites,
		 *lack->sites && *lack->laws ? "; " : "",
		 !lack->law_count ? "" : lack->law_count == 1 ? "law " : "laws ", lack->laws,
		 *lack->counters && (*lack->sites || *lack->laws) ? "; " : "",
		 !lack->counter_count ? "" : lack->counter_count == 1 ? "counter " : "counters ", lack->counters,
		 lack->why);
	print_missing_text(m, line);
}

void print_lacks(struct missing *m, const struct lacks *all)
{
	for (int i = 0; i < all->count; i++)
		print_lack(m, &all->lack[i]);
}
