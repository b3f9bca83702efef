/* SPDX-License-Identifier: GPL-2.0 */
/* Processors that threads are to run on, as a user lists them. */
#ifndef COPYSCOPE_CPU_LIST_H
#define COPYSCOPE_CPU_LIST_H

#include <stdint.h>

#define CPU_LIST_MOST 1024
/* Of a list as text. */
#define CPU_LIST_BYTES 256

struct cpu_list {
	unsigned int count;	/* 0: any processor */
	uint16_t cpu[CPU_LIST_MOST];
};

/*
 * Reads "0,2-3", in the order that it names; P and E stand for all cores of that kind. 0, -EINVAL if it is no such
 * list, or -ENODEV if this process may not run on one of them, or there is no such kind.
 */
int cpu_list_parse(const char *text, struct cpu_list *list);

/* What is wrong with it, by that error. */
const char *cpu_list_fault(int err);

/* Keeps the calling thread on processor @number of the list, from the beginning again at its end. 0 or -errno. */
int cpu_list_hold(const struct cpu_list *list, unsigned int number);

#endif
