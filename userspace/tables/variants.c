// SPDX-License-Identifier: GPL-2.0
/* The variants as rows. */
#include "userspace/tables/variants.h"

#include <string.h>
#include <strings.h>

#define ROW(symbol, name, call, traits, meaning) [VARIANT_##symbol] = { name, traits, meaning },
const struct table_row variant_rows[VARIANT_COUNT] = { VARIANTS(ROW) };
#undef ROW

static const char *const calls[VARIANT_COUNT] = {
#define CALL(symbol, name, call, traits, meaning) [VARIANT_##symbol] = call,
	VARIANTS(CALL)
#undef CALL
};

int variant_number(const char *name)
{
	return row_find(variant_rows, VARIANT_COUNT, name);
}

const char *variant_call(const char *name)
{
	int i = variant_number(name);

	return i < 0 ? "" : calls[i];
}

const char *variant_meant(const char *name)
{
	for (int i = 0; i < VARIANT_COUNT; i++)
		if (!strcasecmp(name, variant_rows[i].name))
			return variant_rows[i].name;
	return NULL;
}

unsigned int variant_traits(const char *name)
{
	int i = variant_number(name);

	return i < 0 ? 0 : variant_rows[i].traits;
}

const char *variant_fault(unsigned int traits, bool replies, bool readers, const char *receiver)
{
	if (!(traits & VARIANT_DATAGRAMS))
		return NULL;
	if (replies)
		return "a reply to a datagram may be lost: use --pattern stream";
	return readers || strcmp(receiver, "recv") ? "datagrams are received by --receiver recv alone" : NULL;
}

/* Of one that takes turns with others, by itself. */
static const char *way_fault(unsigned int traits)
{
	if (traits & VARIANT_UNREAPED)
		return "a way that never reads its notifications leaves them to the next one";
	if (traits & VARIANT_POLLED)
		return "the kernel's thread of uring-zc-sqpoll goes on polling in turns of others";
	return traits & VARIANT_OVERWRITES ? "A3-reuse sends wrong bytes" : NULL;
}

const char *ways_fault(const unsigned int traits[], int count)
{
	const unsigned int carriers = VARIANT_TLS | VARIANT_TLS_OLD | VARIANT_DATAGRAMS;
	bool ring = false, socket = false;

	for (int i = 0; i < count; i++) {
		if (way_fault(traits[i]))
			return way_fault(traits[i]);
		if ((traits[i] ^ traits[0]) & carriers)
			return "a connection has kernel TLS of one version, or datagrams, in all turns or in none";
		ring |= traits_reference(traits[i]) && traits[i] & VARIANT_RING;
		socket |= traits_reference(traits[i]) && !(traits[i] & VARIANT_RING);
	}
	return ring && socket ? "notifications of MSG_ZEROCOPY and of SEND_ZC are not told apart: compare each with A1-plain" :
				NULL;
}

const char *piece_fault(unsigned int traits, uint64_t bytes)
{
	if (bytes && !(traits & (VARIANT_DATAGRAMS | VARIANT_READS)))
		return "only udp, udp-each, udp-zc and A1-file send a message in pieces";
	return bytes > DATAGRAM_BYTES_MAX && traits & VARIANT_DATAGRAMS ? "a datagram has at most 65507 bytes" : NULL;
}

const char *senders_fault(unsigned int traits, bool replies)
{
	if (replies)
		return "a reply has one sender: use --pattern stream";
	return traits & ~(VARIANT_ASKS | VARIANT_READS) ? "the variant must send by plain calls alone, without notifications, TLS, rings, pipes "
					"and datagrams: A1, A2, A3-unset and the like" : NULL;
}

bool variant_has(const char *name, unsigned int traits)
{
	return row_has(variant_rows, VARIANT_COUNT, name, traits);
}
