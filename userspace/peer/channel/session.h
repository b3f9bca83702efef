/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Proves to each of two hosts that the other has the same key, and authenticates their frames.
 *
 * Both greet with a fresh random number. A proof is the HMAC-SHA256, under the key, of the side
 * that gives it and of both greetings: an overheard proof is worth nothing in another connection,
 * and nobody can send it back to its author. Each direction then has a derived key of its own, and
 * the code of each frame covers its number in the connection. Pure but for the random number.
 */
#ifndef COPYSCOPE_SESSION_H
#define COPYSCOPE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/peer/channel/key.h"

enum { SESSION_PROTOCOL = 2, NONCE_BYTES = 32, MARK_BYTES = 32 };

enum side { SIDE_CONNECTOR, SIDE_LISTENER };

/* The first bytes of either side, as they go over the wire. */
struct greeting {
	char magic[14];		/* "copyscope-peer" */
	uint8_t protocol;
	uint8_t keyed;		/* 1: it has a key */
	uint8_t nonce[NONCE_BYTES];
};

/* How the listener answers the connector's proof. */
struct answer {
	uint8_t accepted;
	uint8_t proof[MARK_BYTES];
};

struct session {
	uint8_t out_key[MARK_BYTES], in_key[MARK_BYTES];
	uint64_t sent, heard;	/* frames */
};

/* 0 or -errno. */
int session_greet(struct greeting *mine, const struct key *key);

/* What is wrong with a greeting; NULL if nothing is. */
const char *session_greeting_fault(const struct greeting *theirs, const struct greeting *mine);

void session_prove(const struct key *key, const struct greeting *connector,
		   const struct greeting *listener, enum side side, uint8_t proof[MARK_BYTES]);

/* Takes the same time at whatever byte the two differ. */
bool session_same(const uint8_t a[MARK_BYTES], const uint8_t b[MARK_BYTES]);

void session_open(struct session *s, const struct key *key, const struct greeting *connector,
		  const struct greeting *listener, enum side here);

/* The authentication code of the next frame that is sent, or that is expected. */
void session_mark_out(struct session *s, const void *header, size_t header_bytes, const void *text,
		      size_t bytes, uint8_t mark[MARK_BYTES]);
bool session_mark_fits(struct session *s, const void *header, size_t header_bytes, const void *text,
		       size_t bytes, const uint8_t mark[MARK_BYTES]);

#endif
