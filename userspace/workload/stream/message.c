// SPDX-License-Identifier: GPL-2.0
/* One message: 8 fields, each a heap buffer of its own, or one piece of memory, of a file or not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/message.h"

/* malloc() maps a large buffer 16 bytes behind a page boundary. On AMD's Zen 3 rep movsb takes seven times as long (0.6 ns a
 * byte) to a place that lies 1 to 31 bytes further in its page than the source, as that does beside a page of a file: a way
 * that copies would pay for an accident. */
#define CACHE_LINE_BYTES 64

static void *buffer_alloc(size_t align_bytes, size_t bytes)
{
	void *buffer = NULL;

	if (!align_bytes)
		align_bytes = CACHE_LINE_BYTES;
	return posix_memalign(&buffer, align_bytes, bytes) ? NULL : buffer;
}

static void *map(size_t bytes, int flags, int file)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

/* Returns its pages, or NULL. */
static void *file_map(struct message *message)
{
	void *pages = NULL;

	message->file = memfd_create("message", MFD_CLOEXEC);
	if (message->file < 0)
		return NULL;
	if (!ftruncate(message->file, message->bytes))
		pages = map(message->bytes, MAP_SHARED, message->file);
	if (!pages)
		close(message->file);
	return pages;
}

static void *field_alloc(struct message *message, size_t bytes)
{
	switch (message->memory) {
	case MEMORY_MAPPED:
		return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	case MEMORY_FILE:
		return file_map(message);
	default:
		return buffer_alloc(message->align_bytes, bytes);
	}
}

static void field_free(struct message *message, struct iovec *field)
{
	if (message->memory == MEMORY_HEAP)
		free(field->iov_base);
	else if (field->iov_base)
		munmap(field->iov_base, field->iov_len);
	if (message->memory == MEMORY_FILE && field->iov_base)
		close(message->file);
	field->iov_base = NULL;
}

void message_release(struct message *message)
{
	for (int i = 0; i < message->n_fields; i++)
		field_free(message, &message->field[i]);
	free(message->staging);
	message->staging = NULL;
}

/* Allocates what the shape asks for, touches nothing; 0 or -ENOMEM. */
static int message_renew(struct message *message)
{
	for (int i = 0; i < message->n_fields; i++) {
		struct iovec *field = &message->field[i];

		field->iov_base = field_alloc(message, field->iov_len);
		if (!field->iov_base)
			return -ENOMEM;
	}
	if (!message->staged)
		return 0;
	message->staging = buffer_alloc(0, message->bytes);
	return message->staging ? 0 : -ENOMEM;
}

int message_replace(struct message *message)
{
	int err;

	message_release(message);
	err = message_renew(message);
	if (err)
		complain("out of memory for a message of %zu bytes", message->bytes);
	return err;
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

int message_alloc_mapped(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = 1, .memory = MEMORY_MAPPED });
}

int message_alloc_file(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = 1, .memory = MEMORY_FILE });
}

int message_alloc_file_staged(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = 1, .memory = MEMORY_FILE,
							       .staged = true });
}

int message_alloc_staged(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = MESSAGE_FIELDS,
							       .staged = true });
}

int message_alloc_twice(struct message *message, size_t bytes)
{
	return message_alloc(message, bytes, (struct message){ .n_fields = 1, .staged = true });
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
