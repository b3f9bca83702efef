// SPDX-License-Identifier: GPL-2.0
/* Gives up root for good between attaching and measuring. */
#include "userspace/run/limits/privileges.h"

#include <jansson.h>

#include "userspace/common/confine/confine.h"

int privileges_drop(void)
{
	int err = confine_for_good();

	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	return err ? err : confine_syscalls(CONFINE_MEASURE);
}
