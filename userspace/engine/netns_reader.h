/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over the sockets of a network namespace that is not ours: a process that entered it makes the
 * iterators there. It has nothing but a pipe each way, and ends when the other end closes.
 */
#ifndef COPYSCOPE_NETNS_READER_H
#define COPYSCOPE_NETNS_READER_H

#include <stddef.h>
#include <sys/types.h>

struct netns_reader {
	pid_t pid;	/* 0: none */
	int to, from;
};

/* @ns: the namespace; @link: what the iterators are made of. 0 or -errno. */
int netns_reader_start(struct netns_reader *e, int ns, int link);

/* One walk. Calls @take with each item of @size bytes. 0 or -errno. */
int netns_reader_walk(const struct netns_reader *e, size_t size, void (*take)(void *arg, const void *item),
		 void *arg);

/* Ends it and collects it; a zeroed one is accepted. */
void netns_reader_end(struct netns_reader *e);

/* Calls @take with each whole item of @size bytes that @fd yields until its end. 0 or -errno. */
int items_drain(int fd, size_t size, void (*take)(void *arg, const void *item), void *arg);

#endif
