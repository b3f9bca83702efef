/* SPDX-License-Identifier: GPL-2.0 */
/* One message: 8 fields, each a heap buffer of its own, or one piece of memory, of a file or not. */
#ifndef WORKLOAD_MESSAGE_H
#define WORKLOAD_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "userspace/workload/stream/content.h"

#define MESSAGE_FIELDS 8

/* Where a message lies. What is mapped gives its pages back when it is released, so that nobody overwrites those
 * that are still on their way. */
enum memory { MEMORY_HEAP, MEMORY_MAPPED, MEMORY_FILE };

struct message {
	struct iovec field[MESSAGE_FIELDS];
	int n_fields;           /* 8, or 1 for a contiguous message */
	size_t bytes;
	size_t align_bytes;     /* of each field; 0: to a cache line */
	bool staged;            /* it has a buffer of @bytes to gather the fields in, or to peek into */
	char *staging;          /* that buffer, or NULL */
	enum memory memory;
	int file;               /* MEMORY_FILE: a descriptor, if it has fields; its first byte is that of the message */
	uint64_t end_id;        /* zero copy: sends of this connection up to and with this one */
	unsigned int unnotified; /* io_uring: sends by reference whose notification has not come */
	uint64_t end_position;  /* stream position after the last byte of this message */
};

/*
 * All return 0 or -ENOMEM and touch every page, so that no run counts first-touch faults.
 * message_alloc_fields: a malloc per field of bytes/8, the last one takes the remainder.
 * message_alloc_aligned: the same, each field on a page boundary.
 * message_alloc_staged: fields and a staging buffer.
 * message_alloc_contiguous: one field that is the whole message.
 * message_alloc_twice: the same, and a staging buffer.
 * message_alloc_mapped: the same, in pages of its own.
 * message_alloc_file: the same, in the page cache of a file without a name.
 * message_alloc_file_staged: the same, and a staging buffer.
 */
int message_alloc_fields(struct message *message, size_t bytes);
int message_alloc_aligned(struct message *message, size_t bytes);
int message_alloc_staged(struct message *message, size_t bytes);
int message_alloc_contiguous(struct message *message, size_t bytes);
int message_alloc_twice(struct message *message, size_t bytes);
int message_alloc_mapped(struct message *message, size_t bytes);
int message_alloc_file(struct message *message, size_t bytes);
int message_alloc_file_staged(struct message *message, size_t bytes);

/*
 * For programs that keep no memory. message_release: free all of it, keep the shape.
 * message_replace: give it new memory, touch nothing; 0, or -ENOMEM after a complaint.
 * message_set: write one byte all over the fields.
 */
void message_release(struct message *message);
int message_replace(struct message *message);
void message_set(struct message *message, int byte);

/* Accepts a message that is zeroed or only partly allocated. */
void message_free(struct message *message);

void message_fill(struct message *message, struct content *content);

/* Returns the number of wrong bytes. */
uint64_t message_check(const struct message *message, struct content *content);

#endif
