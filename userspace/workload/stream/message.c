// SPDX-License-Identifier: GPL-2.0
/* One message: 8 fields, each a heap buffer of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/workload/stream/message.h"

static void *buffer_alloc(size_t align_bytes, size_t bytes)
{
	void *buffer = NULL;

	if (!align_bytes)
		return malloc(bytes);
	return posix_memalign(&buffer, align_bytes, bytes) ? NULL : buffer;
}

void message_release(struct message *message)
{
	for (int i = 0; i < message->n_fields; i++) {
		free(message->field[i].iov_base);
		message->field[i].iov_base = NULL;
	}
	free(message->staging);
	message->staging = NULL;
}

int message_renew(struct message *message)
{
	for (int i = 0; i < message->n_fields; i++) {
		struct iovec *field = &message->field[i];

		field->iov_base = buffer_alloc(message->align_bytes, field->iov_len);
		if (!field->iov_base)
			return -ENOMEM;
	}
	if (!message->staged)
		return 0;
	message->staging = buffer_alloc(0, message->bytes);
	return message->staging ? 0 : -ENOMEM;
}

void message_set(struct message *message, int byte)
{
	for (int i = 0; i < message->n_fields; i++)
		memset(message->field[i].iov_base, byte, message->field[i].iov_len);
}

static int message_alloc(struct message *message, size_t bytes, struct message shape)
{
	size_t field_bytes = bytes / shape.n_fields;

	*message = shape;
	message->bytes = bytes;
	for (int i = 0; i < shape.n_fields; i++)
		message->field[i].iov_len = i < shape.n_fields - 1 ? field_bytes :
								     bytes - field_bytes * i;
	if (message_renew(message))
		return -ENOMEM;
	message_set(message, 0);
	if (message->staged)
		memset(message->staging, 0, bytes);
	return 0;
}

int message_alloc_fields(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = MESSAGE_FIELDS });
}

int message_alloc_aligned(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = MESSAGE_FIELDS,
							       .align_bytes = sysconf(_SC_PAGESIZE) });
}

int message_alloc_contiguous(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = 1 });
}

int message_alloc_staged(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = MESSAGE_FIELDS,
							       .staged = true });
}

void message_free(struct message *message)
{
	message_release(message);
	*message = (struct message){ 0 };
}

void message_fill(struct message *message, struct content *content)
{
	for (int i = 0; i < message->n_fields; i++)
		content_fill(content, message->field[i].iov_base, message->field[i].iov_len);
}

uint64_t message_check(const struct message *message, struct content *content)
{
	uint64_t wrong = 0;

	for (int i = 0; i < message->n_fields; i++) {
		const struct iovec *field = &message->field[i];

		wrong += content_check(content, field->iov_base, field->iov_len);
	}
	return wrong;
}
