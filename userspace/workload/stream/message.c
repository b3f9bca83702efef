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
		buffer = malloc(bytes);
	else if (posix_memalign(&buffer, align_bytes, bytes))
		return NULL;
	if (buffer)
		memset(buffer, 0, bytes);
	return buffer;
}

static int message_alloc(struct message *message, size_t bytes, int n_fields, size_t align_bytes)
{
	size_t field_bytes = bytes / n_fields;

	*message = (struct message){ .n_fields = n_fields, .bytes = bytes };
	for (int i = 0; i < n_fields; i++) {
		struct iovec *field = &message->field[i];

		field->iov_len = i < n_fields - 1 ? field_bytes : bytes - field_bytes * i;
		field->iov_base = buffer_alloc(align_bytes, field->iov_len);
		if (!field->iov_base)
			return -ENOMEM;
	}
	return 0;
}

int message_alloc_fields(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, MESSAGE_FIELDS, 0);
}

int message_alloc_aligned(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, MESSAGE_FIELDS, sysconf(_SC_PAGESIZE));
}

int message_alloc_contiguous(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, 1, 0);
}

int message_alloc_staged(struct message *message, size_t bytes)
{
	int err = message_alloc_fields(message, bytes);

	if (err)
		return err;
	message->staging = buffer_alloc(0, bytes);
	return message->staging ? 0 : -ENOMEM;
}

void message_free(struct message *message)
{
	for (int i = 0; i < message->n_fields; i++)
		free(message->field[i].iov_base);
	free(message->staging);
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
