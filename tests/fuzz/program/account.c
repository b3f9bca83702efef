// SPDX-License-Identifier: GPL-2.0
/* What calls of a random program moved, by socket and by the way that bytes went; the truth that it writes. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/program/program.h"

static const char *const moved_names[MOVED_COUNT] = { "tx_copy", "tx_reference", "tx_splice", "rx_copy",
	"rx_map", "rx_splice", "rx_discard", "peeked_bytes", "accepted_bytes", "returned_bytes",
	"zerocopy_sends", "completed_sends", "copied_sends" };
static const char *const mark_names[MARK_COUNT] = { "urgent", "fast open", "connected anew", "retransmitted",
	"sent in several ways" };

void say(const char *format, ...)
{
	va_list list;

	if (!all->may.verbose)
		return;
	va_start(list, format);
	fprintf(stderr, "[%d] ", getpid());
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	_exit(1);
}

void add(int i, enum moved what, int64_t n)
{
	atomic_fetch_add(&all->socket[i].moved[what], n);
}

void mark(int i, enum mark mark)
{
	atomic_fetch_or(&all->socket[i].marks, mark);
}

ssize_t sent(int i, enum moved how, ssize_t n)
{
	int way = how == TX_COPY ? WAY_COPY : how == TX_REFERENCE ? WAY_REFERENCE : WAY_SPLICE;

	if (n <= 0)
		return n;
	add(i, how, n);
	add(i, ACCEPTED, n);
	if ((atomic_fetch_or(&all->socket[i].ways_used, way) | way) != way)
		mark(i, MARK_SENT_IN_SEVERAL_WAYS);
	return n;
}

ssize_t sent_by_reference(int i, ssize_t n)
{
	if (n > 0)
		add(i, ZEROCOPY_SENDS, 1);
	return sent(i, TX_REFERENCE, n);
}

ssize_t received(int i, enum moved how, ssize_t n)
{
	if (n > 0) {
		add(i, how, n);
		add(i, RETURNED, n);
	}
	return n;
}

ssize_t peeked(int i, ssize_t n)
{
	if (n > 0) {
		add(i, RX_COPY, n);
		add(i, PEEKED, n);
	}
	return n;
}

/* A window opens: what was before it is not in it. */
void forget(void)
{
	for (int i = 0; i < all->sockets; i++)
		for (int what = 0; what < MOVED_COUNT; what++)
			all->socket[i].moved[what] = 0;
	/* Children of before are dead. */
	all->processes = 1;
}

static void print_marks(FILE *file, int marks)
{
	const char *comma = "";

	fprintf(file, ", \"marks\": [");
	for (int k = 0; k < MARK_COUNT; k++)
		if (marks & 1 << k) {
			fprintf(file, "%s\"%s\"", comma, mark_names[k]);
			comma = ", ";
		}
	fprintf(file, "]");
}

static void print_moved(FILE *file, const int64_t moved[MOVED_COUNT])
{
	for (int what = 0; what < MOVED_COUNT; what++)
		fprintf(file, "%s\"%s\": %" PRId64, what ? ", " : "{", moved_names[what], moved[what]);
	fprintf(file, "}");
}

/* Adds what it moved to the sum; prints it if that is anything. */
static bool print_socket(FILE *file, const char *before, int i, int64_t sum[MOVED_COUNT])
{
	struct sock *s = &all->socket[i];
	int64_t moved[MOVED_COUNT];
	bool any = false;

	for (int what = 0; what < MOVED_COUNT; what++) {
		moved[what] = s->moved[what];
		sum[what] += moved[what];
		any |= moved[what] != 0;
	}
	if (!any)
		return false;
	fprintf(file, "%s\n{\"number\": %d, \"other\": %d, \"cookie\": \"%" PRIu64 "\", \"moved\": ", before, i,
		s->other, s->cookie);
	print_moved(file, moved);
	print_marks(file, s->marks);
	fprintf(file, "}");
	return true;
}

void write_truth(const char *name)
{
	int64_t sum[MOVED_COUNT] = { 0 };
	int marks = 0, told = 0;
	char part[4096];
	FILE *file;

	snprintf(part, sizeof(part), "%s.part", name);
	file = fopen(part, "w");
	if (!file)
		fail(part);
	fprintf(file, "{\"seed\": %" PRIu64 ", \"sockets\": [", all->seed);
	for (int i = 0; i < all->sockets; i++) {
		marks |= all->socket[i].marks;
		told += print_socket(file, told ? "," : "", i, sum);
	}
	fprintf(file, "],\n\"moved\": ");
	print_moved(file, sum);
	print_marks(file, marks);
	fprintf(file, ",\n\"pids\": [");
	for (int k = 0; k < all->processes && k < PROCESSES_MAX; k++)
		fprintf(file, "%s%d", k ? ", " : "", all->pids[k]);
	fprintf(file, "]}\n");
	if (fclose(file) || rename(part, name))
		fail(name);
}
