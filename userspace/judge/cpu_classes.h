/* SPDX-License-Identifier: GPL-2.0 */
/* What a processor worked at, by the functions of a stack; pure. */
#ifndef COPYSCOPE_JUDGE_CPU_CLASSES_H
#define COPYSCOPE_JUDGE_CPU_CLASSES_H

#include "userspace/record/cpu.h"
#include "userspace/record/record.h"

/* @frames: names, innermost first, joined by " < ". *@softirq: it was in one. */
enum cpu_class cpu_class_of(const char *frames, bool *softirq);

/* @function: of user space; empty: without a name. */
enum cpu_user_kind cpu_user_kind_of(const char *function);

/* Adds what was found of a process; samples of @span are not 0. Returns the class. */
enum cpu_class cpu_use_add_stack(struct cpu_use *use, const struct cpu_stack *stack);
void cpu_use_add_span(struct cpu_use *use, const struct cpu_span *span);

/*
 * The law of the clock: the periods that the samples of a process stand for are the CPU time that the scheduler gave
 * it. The tolerance is the error of sampling: four standard deviations of a count, and a period at each end of each
 * thread.
 */
enum law_status cpu_clock_weigh(const struct cpu_use *use, unsigned int hz);

#endif
