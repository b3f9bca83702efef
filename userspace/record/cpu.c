// SPDX-License-Identifier: GPL-2.0
/* Names of the classes of CPU time, and shares of samples with their intervals. */
#include "userspace/record/cpu.h"

#include <math.h>
#include <stdlib.h>

static const struct {
	const char *key;
	bool copies;
} classes[] = {
#define ROW(symbol, key, meaning, copies) { key, copies },
	CPU_CLASSES(ROW)
#undef ROW
};

static const char *const kinds[] = {
#define ROW(symbol, key, meaning) key,
	CPU_USER_KINDS(ROW)
#undef ROW
};

const char *cpu_class_key(enum cpu_class c)
{
	return classes[c].key;
}

const char *cpu_user_key(enum cpu_user_kind kind)
{
	return kinds[kind];
}

uint64_t cpu_copies(const uint64_t samples[CPU_CLASS_COUNT])
{
	uint64_t sum = 0;

	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++)
		sum += classes[c].copies ? samples[c] : 0;
	return sum;
}

/* E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927. */
struct cpu_share cpu_share_of(uint64_t part, uint64_t whole)
{
	const double z = 1.959964, n = whole, p = part / n, widened = 1 + z * z / n;
	double middle = (p + z * z / (2 * n)) / widened;
	double reach = z / widened * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return (struct cpu_share){ p, part ? middle - reach : 0, part < whole ? middle + reach : 1 };
}

void cpu_samples_free(struct cpu_samples *samples)
{
	free(samples->stacks);
	free(samples->spans);
	free(samples->texts);
	user_stacks_free(&samples->programs);
	*samples = (struct cpu_samples){};
}
