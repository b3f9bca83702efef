/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Has foreign bytes parsed by a process that has nothing but two pipes.
 *
 * It is started while its parent still may start processes, and before anything foreign has come. It
 * takes one question, answers it, and ends. Whatever the bytes do to it, it can only answer wrongly:
 * so an answer is plain data, and who asks checks all of it again.
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

/* Ends it, whatever it does; one that was never started is accepted. */
void aside_end(struct aside *a);

#endif
