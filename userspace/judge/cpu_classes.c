// SPDX-License-Identifier: GPL-2.0
/* What a processor worked at, by the functions of a stack; pure. */
#include "userspace/judge/cpu_classes.h"

#include <math.h>
#include <string.h>

enum says { NOTHING, FROM_USER, TO_USER, SENDING, RECEIVING, DECIDES };

static const struct {
	const char *function;
	int says;	/* enum says, or DECIDES + the class */
} functions[] = {
#define LATE_COPY (DECIDES + CPU_LATE_COPY)
#define RESHAPE (DECIDES + CPU_RESHAPE)
#define CHECKSUM (DECIDES + CPU_CHECKSUM)
#define PIN (DECIDES + CPU_PIN)
#define COMPLETION (DECIDES + CPU_COMPLETION)
#define ROW(function, says) { function, says },
	CPU_FUNCTIONS(ROW)
#undef ROW
};

static const char *const network[] = {
#define WORD(prefix) prefix,
	CPU_NETWORK(WORD)
};
static const char *const copiers[] = { CPU_COPIERS(WORD) };
static const char *const softirqs[] = { CPU_SOFTIRQS(WORD) };
static const char *const interrupts[] = { CPU_INTERRUPTS(WORD) };
#undef WORD

#define COUNT_OF(table) (sizeof(table) / sizeof(*(table)))

/* The compiler may have made "skb_copy_bits.part.0" of a part of a function. */
static bool is_function(const char *name, size_t length, const char *function)
{
	size_t plain = strcspn(name, ".");

	if (plain < length)
		length = plain;
	return strlen(function) == length && !strncmp(name, function, length);
}

static int says(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		if (is_function(name, length, functions[i].function))
			return functions[i].says;
	return NOTHING;
}

static bool has_prefix(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool is_bpf(const char *name)
{
	static const char *const prefixes[] = { "bpf_prog_", "bpf_trampoline_" };

	return has_prefix(name, prefixes, COUNT_OF(prefixes));
}

static bool is_softirq(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(softirqs); i++)
		if (is_function(name, length, softirqs[i]))
			return true;
	return false;
}

/* A copy is payload in a send or recv alone; @copiers: within are functions that copy memory, or none.
 * -1: this function does not decide. */
static int decided(int said, int copying, bool copiers)
{
	if ((said == LATE_COPY || said == RESHAPE) && !copiers)
		return CPU_NETWORK;
	if (said == SENDING)
		return copying == FROM_USER ? CPU_SEND_COPY : copying ? CPU_KERNEL : CPU_NETWORK;
	if (said == RECEIVING)
		return copying == TO_USER ? CPU_RECV_COPY : copying ? CPU_KERNEL : CPU_NETWORK;
	return said >= DECIDES ? said - DECIDES : -1;
}

enum cpu_class cpu_class_of(const char *frames, bool *softirq)
{
	int copying = 0, found = -1;
	bool of_network = false, interrupt = false, copiers_alone = true;

	*softirq = false;
	if (!*frames)
		return CPU_HIDDEN;
	for (const char *name = frames; *name && !*softirq && !interrupt;) {
		size_t length = strcspn(name, " ");
		int said = says(name, length);

		if (!copying && (said == FROM_USER || said == TO_USER))
			copying = said;
		if (found < 0)
			found = is_bpf(name) ? CPU_PROBES : decided(said, copying, copiers_alone);
		copiers_alone &= has_prefix(name + strspn(name, "_"), copiers, COUNT_OF(copiers));
		of_network |= !copying && has_prefix(name, network, COUNT_OF(network));
		*softirq = is_softirq(name, length);
		interrupt = has_prefix(name, interrupts, COUNT_OF(interrupts));
		name += length;
		name += strspn(name, " <");
	}
	return found >= 0 ? (enum cpu_class)found : of_network ? CPU_NETWORK : CPU_KERNEL;
}

/* "__memmove_avx_unaligned_erms", but not "memcpyd". */
static bool is_copy(const char *function)
{
	static const char *const names[] = {
#define WORD(name) name,
		CPU_USER_COPIES(WORD)
#undef WORD
	};

	function += strspn(function, "_");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(function, names[i], length) && !(function[length] >= 'a' && function[length] <= 'z'))
			return true;
	}
	return false;
}

enum cpu_user_kind cpu_user_kind_of(const char *function)
{
	return !*function ? CPU_USER_UNNAMED : is_copy(function) ? CPU_USER_COPIES : CPU_USER_OTHERS;
}

void cpu_stack_classify(struct cpu_stack *stack)
{
	stack->class = CPU_USER;
	if (!stack->user)
		stack->class = cpu_class_of(stack->frames, &stack->softirq);
}

enum cpu_class cpu_use_add_stack(struct cpu_use *use, const struct cpu_stack *stack)
{
	enum cpu_class c = stack->class;

	use->all += stack->samples;
	use->samples[c] += stack->samples;
	use->softirq[c] += stack->softirq ? stack->samples : 0;
	if (stack->user)
		use->user[cpu_user_kind_of(stack->frames)] += stack->samples;
	return c;
}

void cpu_use_add_span(struct cpu_use *use, const struct cpu_span *span)
{
	use->threads++;
	use->periods += span->periods;
	use->skipped += span->skipped;
	use->run_ns += span->run_ns;
}

enum law_status cpu_clock_weigh(const struct cpu_use *use, unsigned int hz)
{
	double expected = use->run_ns / 1e9 * hz;

	if (!use->periods)
		return LAW_NOT_TESTABLE;
	return fabs(use->periods + use->skipped - expected) <= 4 * sqrt(expected) + 2 * use->threads ? LAW_BALANCED : LAW_BROKEN;
}
