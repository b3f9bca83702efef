// SPDX-License-Identifier: GPL-2.0
/* Goes through the table of families. */
#include "studies/baseline/report/family_list.h"

#include "studies/baseline/families/families.h"

void family_list_print(FILE *out)
{
	for (const struct family *const *f = families; *f; f++) {
		fprintf(out, "%s%s\n", (*f)->name, (*f)->root ? " (needs root)" : "");
		for (int i = 0; i < (*f)->count; i++)
			fprintf(out, "  %-22s %s\n", (*f)->rows[i].name, (*f)->rows[i].title);
	}
}
