/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets a process that has nothing but two pipes parse foreign bytes.
 *
 * The caller starts it while it still may start processes, and before any foreign byte has come.
 * The process takes one question, answers it and ends. Whatever the bytes do to it, it can only
 * answer wrongly: so an answer is plain data, and the caller checks all of it again.
 */
#ifndef COPYSCOPE_ASIDE_H
#define COPYSCOPE_ASIDE_H

#include <stddef.h>
#include <sys/types.h>

struct aside {
	pid_t pid;	/* 0: none */
	int to, from;
};

/*
 * Makes an answer out of the bytes: 0 with *answer, from malloc, of *size bytes; or -errno. @text has
 * a 0 behind its last byte.
 */
typedef int (*aside_work)(const char *text, size_t bytes, void **answer, size_t *size);

/* 0 or -errno. */
int aside_start(struct aside *a, aside_work work);

/*
 * Asks, once. *answer is the caller's to free. What the work returned, -EPIPE if the process died,
 * -ETIMEDOUT if it took too long, -EBADMSG if its answer is longer than @limit.
 */
int aside_ask(struct aside *a, const char *text, size_t bytes, size_t limit, void **answer,
	      size_t *size);

/* Kills it, whatever it does; accepts one that was never started. */
void aside_end(struct aside *a);

#endif
