// SPDX-License-Identifier: GPL-2.0
/* Reads what the receiver's devices received, and prints a rate for each second. */
#include "userspace/run/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/text.h"

void progress_open(struct progress *p, pid_t receiver)
{
	char path[64];

	*p = (struct progress){ .shown = isatty(STDERR_FILENO) };
	if (!p->shown || !receiver)
		return;
	snprintf(path, sizeof(path), "/proc/%d/net/dev", (int)receiver);
	p->devices = open(path, O_RDONLY | O_CLOEXEC);
	p->counting = p->devices >= 0;
}

/* The first number after a device's name is what it received; two lines of heads have none. */
static bool received_bytes(int devices, uint64_t *sum)
{
	char text[4096], *rest = text, *line;
	ssize_t got = pread(devices, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	*sum = 0;
	while ((line = strsep(&rest, "\n"))) {
		const char *colon = strchr(line, ':');
		uint64_t bytes;

		if (colon && sscanf(colon + 1, "%" SCNu64, &bytes) == 1)
			*sum += bytes;
	}
	return got > 0;
}

/* The reading may come a tenth of a second late, so the rate is that since the last one.
 *    1-2 s   17.4 Gbit/s */
static void print_second(struct progress *p, uint64_t elapsed_ns)
{
	uint64_t bytes;
	char rate[16];

	if (!received_bytes(p->devices, &bytes))
		return;
	rate_text((bytes - p->bytes) * 8.0 * NS_PER_S / (elapsed_ns - p->read_ns), rate);
	fprintf(stderr, "\r\033[K  %d-%d s  %s%s\n", p->seconds, (int)(elapsed_ns / NS_PER_S), rate,
		p->seconds ? "" : " at the receiver's device, headers included");
	p->bytes = bytes;
	p->read_ns = elapsed_ns;
}

void progress_step(struct progress *p, uint64_t elapsed_ns)
{
	if (!p->shown)
		return;
	if (!elapsed_ns && p->counting)
		p->counting = received_bytes(p->devices, &p->bytes);
	if (p->counting && elapsed_ns / NS_PER_S > (uint64_t)p->seconds)
		print_second(p, elapsed_ns);
	p->seconds = elapsed_ns / NS_PER_S;
	if (elapsed_ns)
		fprintf(stderr, "\r  running, %.1f s ", (double)elapsed_ns / NS_PER_S);
}

void progress_close(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	if (p->counting)
		close(p->devices);
	*p = (struct progress){};
}
