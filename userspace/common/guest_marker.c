// SPDX-License-Identifier: GPL-2.0
/* Maps the page by which programs of a guest speak to the plugin of its emulator, and says lines. */
#include "userspace/common/guest_marker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

bool marker_is_mapped;

int marker_map(void)
{
	void *page = mmap((void *)MARKER_ADDRESS, MARKER_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	marker_is_mapped = true;
	return 0;
}

void marker_say(const char *format, ...)
{
	unsigned char line[128];
	va_list args;

	va_start(args, format);
	vsnprintf((char *)line, sizeof(line), format, args);
	va_end(args);
	for (const unsigned char *letter = line; *letter; letter++)
		marker_store(*letter);
	marker_store('\n');
}
