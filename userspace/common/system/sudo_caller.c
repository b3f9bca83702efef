// SPDX-License-Identifier: GPL-2.0
/* Reads who called sudo, strictly: anybody may set its variables. */
#include "userspace/common/system/sudo_caller.h"

#include <stdlib.h>

#include "userspace/common/numbers.h"

int sudo_caller(const char *variable, uint32_t *number)
{
	const char *value = getenv(variable);
	uint64_t found;
	int err = value ? whole_parse(value, NUMBER_PLAIN, 0, UINT32_MAX - 1, &found) : 0;

	if (err || !value)
		return err;
	*number = found;
	return 1;
}
