// SPDX-License-Identifier: GPL-2.0
/* Which hooks each site needs, and how its number comes from them. */
#include "userspace/judge/sources.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ACCEPTED_LESS "what was accepted, by sequence numbers or of datagrams by calls, less references and splices"
#define NO_PAGES "0 where all bytes that left the sockets were copied or discarded"

/* Also where its module is not loaded: a socket that has it is then told apart. */
#define TLS_APART "sockets with kernel TLS are in no sum"

static const struct source by_tracepoints[SITE_COUNT] = {
	[SITE_user_gather] = { HOW_MEASURED, { "user_gather" }, "" },
	[SITE_tx_copy] = { HOW_DERIVED, { "sends" }, ACCEPTED_LESS },
	[SITE_tx_reference] = { HOW_MEASURED, { "sends" }, "" },
	[SITE_tx_splice] = { HOW_MEASURED, { "sends" }, "" },
	[SITE_late_copy] = { HOW_DERIVED, { "late_copy" }, "packets that arrived on this machine with user pages" },
	[SITE_reshape] = { HOW_NOT_MEASURED, {}, "no tracepoint tells of it" },
	[SITE_rx_copy] = { HOW_MEASURED, { "rx_copy" }, "" },
	[SITE_rx_map] = { HOW_DERIVED, { "rx_copy" }, NO_PAGES },
	[SITE_rx_splice] = { HOW_DERIVED, { "rx_copy" }, NO_PAGES },
	[SITE_rx_discard] = { HOW_MEASURED, { "rx_discard" }, "" },
	[SITE_rx_direct] = { HOW_DERIVED, {}, TLS_APART },
	[SITE_tls_copy] = { HOW_DERIVED, {}, TLS_APART },
	[SITE_tls_reference] = { HOW_DERIVED, {}, TLS_APART },
	[SITE_tls_splice] = { HOW_DERIVED, {}, TLS_APART },
	[SITE_tls_encrypt] = { HOW_DERIVED, {}, TLS_APART },
	[SITE_tls_decrypt] = { HOW_DERIVED, {}, TLS_APART },
};

/* Where trampolines know it otherwise. A late copy finds its sender by the pin that the reference left. */
static const struct source by_trampolines[SITE_COUNT] = {
	[SITE_tx_copy] = { HOW_DERIVED, { "tx_splice", "tx_reference" }, ACCEPTED_LESS },
	[SITE_tx_reference] = { HOW_MEASURED, { "tx_reference" }, "" },
	[SITE_tx_splice] = { HOW_MEASURED, { "tx_splice" }, "" },
	[SITE_late_copy] = { HOW_MEASURED, { "tx_reference", "late_copy" }, "" },
	[SITE_reshape] = { HOW_MEASURED, { "reshape" }, "" },
	[SITE_rx_map] = { HOW_MEASURED, { "rx_map" }, "" },
	[SITE_rx_splice] = { HOW_MEASURED, { "rx_splice" }, "" },
	[SITE_rx_direct] = { HOW_MEASURED, { "rx_direct" }, "" },
	[SITE_tls_copy] = { HOW_MEASURED, { "tls_copy" }, "" },
	[SITE_tls_reference] = { HOW_MEASURED, { "tls_reference" }, "" },
	[SITE_tls_splice] = { HOW_DERIVED, { "tls_encrypt" }, "what was encrypted, less what was copied or referenced for it" },
	[SITE_tls_encrypt] = { HOW_MEASURED, { "tls_encrypt" }, "" },
	[SITE_tls_decrypt] = { HOW_MEASURED, { "tls_decrypt" }, "" },
};

const struct source *site_source(enum backend backend, enum site site)
{
	if (backend == BACKEND_TRAMPOLINE && by_trampolines[site].why)
		return &by_trampolines[site];
	return by_tracepoints[site].why ? &by_tracepoints[site] : NULL;
}

const char *why_absent(const struct measured *m, const char *metric, const char *otherwise)
{
	const char *why = otherwise;

	for (int i = 0; i < m->probe_count; i++) {
		const struct probe *probe = &m->probes[i];

		if (strcmp(probe->metric, metric))
			continue;
		if (probe->status == PROBE_ATTACHED)
			return NULL;
		why = *probe->why ? probe->why : why;
	}
	return why;
}

const char *source_lacks(const struct measured *m, const struct source *source, const char *otherwise)
{
	const char *why = NULL;

	for (int i = 0; i < SOURCE_METRICS && source->metrics[i] && !why; i++)
		why = why_absent(m, source->metrics[i], otherwise);
	return why;
}

void site_tell(struct site_value *value, const struct tally *tally, const struct source *source, const char *why_not)
{
	value->how = why_not ? HOW_NOT_MEASURED : source->how;
	value->tally = *tally;
	snprintf(value->why, WHY_BYTES, "%s", why_not ?: source->why);
}
