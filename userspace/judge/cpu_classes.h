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

/* By what was found there. */
void cpu_stack_classify(struct cpu_stack *stack);

/* Adds what was found of a process, by its class, which it returns. */
enum cpu_class cpu_use_add_stack(struct cpu_use *use, const struct cpu_stack *stack);
void cpu_use_add_span(struct cpu_use *use, const struct cpu_span *span);

/*
 * The law of the clock: the periods that the samples of a process stand for, and those that the clock skipped, are the
 * time for which its threads had a processor, by the switches from task to task. The tolerance is the error of
 * sampling: four standard deviations of a count, and a period at each end of each thread.
 */
enum law_status cpu_clock_weigh(const struct cpu_use *use, unsigned int hz);

#endif
