// SPDX-License-Identifier: GPL-2.0
/* Checks of plain data that came from a process or a host that may lie. */
#include "userspace/common/sound.h"

#include <math.h>
#include <string.h>

#define TIME_MOST_NS (1ull << 62)

bool sound_count(uint64_t count)
{
	return count <= SOUND_MOST;
}

bool sound_time_ns(uint64_t ns)
{
	return ns <= TIME_MOST_NS;
}

bool sound_real(double value, double most)
{
	return isfinite(value) && value >= 0 && value <= most;
}

bool sound_text(const char *text, size_t size)
{
	if (!memchr(text, '\0', size))
		return false;
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

bool sound_flag(const bool *flag)
{
	return *(const unsigned char *)flag <= 1;
}
