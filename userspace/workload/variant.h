/* SPDX-License-Identifier: GPL-2.0 */
/* A variant: how one message is stored, sent, and made safe to overwrite. */
#ifndef WORKLOAD_VARIANT_H
#define WORKLOAD_VARIANT_H

#include "userspace/tables/variants.h"
#include "userspace/workload/completions.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/message.h"

struct sender;

struct variant {
	const struct table_row *row;
	bool pool;	/* several messages in turn, else one */

	/* One of message_alloc_*(). */
	int (*alloc)(struct message *message, size_t bytes);

	/* Send the whole message, through partial sends. */
	enum outcome (*send)(struct sender *sender, struct message *message);

	/* Block until @message may be overwritten; NULL: it may be as soon as send returns. */
	enum outcome (*reap)(struct sender *sender, struct message *message);
};

/* Returns NULL when there is none of that name. */
const struct variant *variant_find(const char *name);

#endif
