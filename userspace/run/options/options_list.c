// SPDX-License-Identifier: GPL-2.0
/* Lists what a run can be made of and what its report shows, a line each. */
#include <stdio.h>

#include "userspace/record/record.h"
#include "userspace/run/options/options_parts.h"
#include "userspace/tables/behaviours.h"
#include "userspace/tables/paths.h"
#include "userspace/tables/variants.h"

static void print_line(const char *name, const char *meaning)
{
	printf("  %-20s %s\n", name, meaning);
}

static void print_rows(const char *title, const struct table_row *rows, int count)
{
	printf("%s\n", title);
	for (int i = 0; i < count; i++)
		print_line(rows[i].name, rows[i].meaning);
}

void options_list(void)
{
	print_rows("VARIANT, how a message is sent", variant_rows, VARIANT_COUNT);
	print_rows("\n--path, what lies between the sockets", path_rows, PATH_COUNT);
	print_rows("\n--behaviours, what published programs do otherwise", behaviour_rows, BEHAVIOUR_COUNT);
	printf("\nsites of the report, and what became of bytes there\n");
	for (enum site s = 0; s < SITE_COUNT; s++)
		print_line(site_name(s), site_meaning(s));
	/* tools/trace_run adds those of guests. */
	printf("\n--kernel, which one it runs on\n");
	print_line("host", "this kernel (default)");
}
