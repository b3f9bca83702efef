// SPDX-License-Identifier: GPL-2.0
/* Names of the places where a packet capture runs. */
#include "userspace/path/path_info.h"

const char *tap_name(enum tap tap)
{
	static const char *const names[] = { "tx", "rx", "other" };

	return names[tap];
}
