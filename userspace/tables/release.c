// SPDX-License-Identifier: GPL-2.0
/* Names the release and the commit that was built. */
#include "userspace/tables/release.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef COPYSCOPE_VERSION
#define COPYSCOPE_VERSION "unknown"
#endif

void release_print(void)
{
	puts("copyscope " COPYSCOPE_RELEASE " (" COPYSCOPE_VERSION ")");
	exit(0);
}
