// SPDX-License-Identifier: GPL-2.0
/* The table of variants. */
#include <stddef.h>
#include <string.h>

#include "userspace/workload/send/variant.h"

const struct variant *const variants[] = {
	&variant_a1,
	&variant_a1_plain,
	&variant_a1_8send,
	&variant_a2,
	&variant_a3,
	&variant_a3_aligned,
	&variant_a3_unset,
	&variant_a3_unreaped,
	&variant_a3_aligned_unreaped,
	&variant_a3_reuse,
	NULL,
};

const struct variant *variant_find(const char *name)
{
	for (int i = 0; variants[i]; i++)
		if (!strcmp(variants[i]->name, name))
			return variants[i];
	return NULL;
}
