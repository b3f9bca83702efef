// SPDX-License-Identifier: GPL-2.0
/* Proofs that two hosts have the same key, and the authentication codes of their frames. */
#include "userspace/peer/channel/session.h"

#include <endian.h>
#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

static const char magic[] = "copyscope-peer";

/* Each use of the key has its own label, so that no value can serve for another use. */
static const char *const proofs[] = { "copyscope-peer 2: the connector's proof",
				      "copyscope-peer 2: the listener's proof" };
static const char *const directions[] = { "copyscope-peer 2: from the connector",
					  "copyscope-peer 2: from the listener" };

int session_greet(struct greeting *mine, const struct key *key)
{
	*mine = (struct greeting){ .protocol = SESSION_PROTOCOL, .keyed = key->bytes > 0 };
	memcpy(mine->magic, magic, sizeof(mine->magic));
	return getrandom(mine->nonce, sizeof(mine->nonce), 0) == sizeof(mine->nonce) ? 0 : -errno;
}

const char *session_greeting_fault(const struct greeting *theirs, const struct greeting *mine)
{
	if (memcmp(theirs->magic, magic, sizeof(theirs->magic)))
		return "it sent what trace_run never sends";
	if (theirs->protocol != mine->protocol)
		return "it is another build, which speaks another protocol; install the same on both hosts";
	if (theirs->keyed > 1)
		return "it sent what trace_run never sends";
	if (theirs->keyed && !mine->keyed)
		return "it has a key, and this host was given none; give both the same --key-file";
	if (!theirs->keyed && mine->keyed)
		return "it was given no key, and this host has one; give both the same --key-file";
	/* Our own greeting came back: the other side has no random number of its own. */
	if (!memcmp(theirs->nonce, mine->nonce, sizeof(mine->nonce)))
		return "it sends back what it receives";
	return NULL;
}

static void of_both(const struct key *key, const char *name, const struct greeting *connector,
		    const struct greeting *listener, uint8_t out[MARK_BYTES])
{
	struct hmac_sha256_ctx context;

	hmac_sha256_set_key(&context, key->bytes, key->secret);
	hmac_sha256_update(&context, strlen(name) + 1, (const uint8_t *)name);
	hmac_sha256_update(&context, sizeof(*connector), (const uint8_t *)connector);
	hmac_sha256_update(&context, sizeof(*listener), (const uint8_t *)listener);
	hmac_sha256_digest(&context, MARK_BYTES, out);
	explicit_bzero(&context, sizeof(context));
}

void session_prove(const struct key *key, const struct greeting *connector,
		   const struct greeting *listener, enum side side, uint8_t proof[MARK_BYTES])
{
	of_both(key, proofs[side], connector, listener, proof);
}

bool session_same(const uint8_t a[MARK_BYTES], const uint8_t b[MARK_BYTES])
{
	return memeql_sec(a, b, MARK_BYTES);
}

void session_open(struct session *s, const struct key *key, const struct greeting *connector,
		  const struct greeting *listener, enum side here)
{
	enum side there = here == SIDE_CONNECTOR ? SIDE_LISTENER : SIDE_CONNECTOR;

	*s = (struct session){};
	of_both(key, directions[here], connector, listener, s->out_key);
	of_both(key, directions[there], connector, listener, s->in_key);
}

static void mark(const uint8_t key[MARK_BYTES], uint64_t number, const void *header,
		 size_t header_bytes, const void *text, size_t bytes, uint8_t out[MARK_BYTES])
{
	uint64_t place = htobe64(number);
	struct hmac_sha256_ctx context;

	hmac_sha256_set_key(&context, MARK_BYTES, key);
	hmac_sha256_update(&context, sizeof(place), (const uint8_t *)&place);
	hmac_sha256_update(&context, header_bytes, header);
	hmac_sha256_update(&context, bytes, text);
	hmac_sha256_digest(&context, MARK_BYTES, out);
	explicit_bzero(&context, sizeof(context));
}

void session_mark_out(struct session *s, const void *header, size_t header_bytes, const void *text,
		      size_t bytes, uint8_t out[MARK_BYTES])
{
	mark(s->out_key, s->sent++, header, header_bytes, text, bytes, out);
}

bool session_mark_fits(struct session *s, const void *header, size_t header_bytes, const void *text,
		       size_t bytes, const uint8_t in[MARK_BYTES])
{
	uint8_t expected[MARK_BYTES];

	mark(s->in_key, s->heard++, header, header_bytes, text, bytes, expected);
	return session_same(expected, in);
}
