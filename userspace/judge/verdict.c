// SPDX-License-Identifier: GPL-2.0
/* Puts a run into numbers: what was copied, how often, and why. */
#include "userspace/judge/verdict.h"

#include <string.h>

#include "userspace/judge/copied.h"
#include "userspace/judge/laws.h"
#include "userspace/record/experiment.h"

static uint64_t bytes_at(const struct record *r, enum site site)
{
	return r->sites[site].how == HOW_NOT_MEASURED ? 0 : r->sites[site].tally.bytes;
}

static double copies_per_byte(const struct record *r)
{
	uint64_t copied = 0, accepted = books_accepted(&r->derived.total);

	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, SITE_COPIES))
			copied += bytes_at(r, s);
	return accepted ? (double)copied / accepted : 0;
}

/* Bytes of the packets themselves that were copied on their way, without a capture's clones. */
static uint64_t copied_on_the_way(const struct record *r)
{
	const unsigned long long *n = r->derived.total.count;
	uint64_t late = r->sites[SITE_late_copy].tally.bytes;

	late -= n[COUNT_tapped_bytes] < late ? n[COUNT_tapped_bytes] : late;
	return late + n[COUNT_reshaped_referenced_bytes];
}

/* The chief cause of copies of the packets themselves: causes are listed by cost, and a capture on
 * tx copies clones. */
static const char *reason(const struct record *r)
{
	for (int i = 0; i < r->cause_count; i++)
		if ((r->causes[i].site == SITE_late_copy || r->causes[i].site == SITE_reshape) &&
		    strcmp(r->causes[i].name, "packet tap on tx"))
			return r->causes[i].name;
	return "an unknown cause";
}

/* Referenced bytes that nobody copied on their way. */
static uint64_t sent_clean(const struct record *r)
{
	uint64_t referenced = r->sites[SITE_tx_reference].tally.bytes, copied = copied_on_the_way(r);

	return copied < referenced ? referenced - copied : 0;
}

/* "Not copied" is known only where all functions that may copy were watched. */
static bool clean_is_known(const struct record *r)
{
	const struct path_info *path = &r->experiment->path;

	return path->hardware_dma ? record_probe_attached(r, "clean") :
				    r->sites[SITE_reshape].how != HOW_NOT_MEASURED || path->scatter_gather;
}

static bool copies_are_known(const struct record *r)
{
	/* Where arrivals stand for copies, the kernel's completions know better: a capture copies before. */
	if (copies_denied(r))
		return false;
	return r->sites[SITE_late_copy].how != HOW_NOT_MEASURED && (!sent_clean(r) || clean_is_known(r));
}

/* Every verdict needs these sites. */
static bool site_is_missing(const struct record *r)
{
	static const enum site needed[] = { SITE_tx_copy, SITE_tx_reference, SITE_rx_copy };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (r->sites[needed[i]].how == HOW_NOT_MEASURED)
			return true;
	return false;
}

/* What a verdict is about. */
enum verdict_kind { OF_NOTHING, OF_REFERENCES, OF_COPIES };

static enum verdict_kind kind_of(const struct record *r)
{
	if (r->outcome.status != RUN_COMPLETE || r->backend == BACKEND_NONE || site_is_missing(r) ||
	    !r->derived.total.count[COUNT_accepted_bytes])
		return OF_NOTHING;
	return r->sites[SITE_tx_reference].tally.bytes ? OF_REFERENCES : OF_COPIES;
}

bool verdict_passed(const struct record *r)
{
	return r->outcome.status == RUN_COMPLETE && !laws_broken(r->laws, r->law_count);
}

void verdict_fill(const struct record *r, struct verdict *v)
{
	enum verdict_kind kind = kind_of(r);

	*v = (struct verdict){ .passed = verdict_passed(r), .laws_broken = laws_broken(r->laws, r->law_count) };
	v->copies_known = kind == OF_COPIES;
	v->referenced_known = kind == OF_REFERENCES;
	v->uncopied_known = kind == OF_REFERENCES && copies_are_known(r);
	v->copies_per_byte = v->copies_known ? copies_per_byte(r) : 0;
	v->referenced_bytes = v->referenced_known ? r->sites[SITE_tx_reference].tally.bytes : 0;
	v->uncopied_bytes = v->uncopied_known ? sent_clean(r) : 0;
	v->chief_cause = v->uncopied_known && v->uncopied_bytes < v->referenced_bytes ? reason(r) : NULL;
}
