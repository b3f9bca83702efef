/* SPDX-License-Identifier: GPL-2.0 */
/* What a variant is: how one message is kept, sent, and made safe to overwrite. */
#ifndef WORKLOAD_VARIANT_H
#define WORKLOAD_VARIANT_H

#include "userspace/workload/send/completions.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/message.h"

struct sender;

enum variant_flags {
	VARIANT_SO_ZEROCOPY = 1, /* set SO_ZEROCOPY on the socket */
	VARIANT_POOL = 2,        /* several messages in turn, else one */
	VARIANT_UNREAPED = 4,    /* never read the error queue */
};

struct variant {
	const char *name;
	const char *help;        /* one line */
	unsigned int flags;      /* enum variant_flags */

	/* One of message_alloc_*(). */
	int (*alloc)(struct message *message, size_t bytes);

	/* Send the whole message, through partial sends. */
	enum outcome (*send)(struct sender *sender, struct message *message);

	/* Block until @message may be overwritten; NULL: it may be as soon as send returns. */
	enum outcome (*reap)(struct sender *sender, struct message *message);
};

extern const struct variant variant_a1, variant_a1_plain, variant_a1_8send, variant_a2;
extern const struct variant variant_a3, variant_a3_aligned, variant_a3_unset;
extern const struct variant variant_a3_unreaped, variant_a3_aligned_unreaped;
extern const struct variant variant_a3_reuse;

/* All of them, in the order of the help text; ends with NULL. */
extern const struct variant *const variants[];

/* Returns NULL when there is none of that name. */
const struct variant *variant_find(const char *name);

#endif
