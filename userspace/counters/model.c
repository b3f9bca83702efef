// SPDX-License-Identifier: GPL-2.0
/* Opens the port to the plugin, opens and closes its window, and reads its report. */
#include "userspace/counters/model.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/counters/functions.h"

/* tools/guest sets it where the emulator has the plugin. */
#define MODEL_VARIABLE "COPYSCOPE_MODEL"

/* The plugin has written its report before the store that asks for it ends; only the port takes time. */
enum { REPORT_MS = 10000, REPORT_BYTES = 1 << 15 };

bool model_offered(void)
{
	return getenv(MODEL_VARIABLE);
}

static int complain(const char *what, int err)
{
	fprintf(stderr, "trace_run: --counters model: %s: %s\n", what, strerror(-err));
	return err;
}

/*
 * The first connection after a boot fills a table with random numbers (net/ipv4/inet_hashtables.c, table_perturb):
 * millions of instructions, which would be the receiver's.
 */
static void connect_once(void)
{
	const struct sockaddr_in discard = { .sin_family = AF_INET, .sin_port = htons(9),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	/* Nobody listens: it is refused. */
	(void)!connect(fd, (const struct sockaddr *)&discard, sizeof(discard));
	close(fd);
}

int model_prepare(struct model *m)
{
	const char *told = getenv(MODEL_VARIABLE);
	char port[64];
	int err;

	if (!told || !model_caches_parse(told, port, sizeof(port), &m->caches))
		return complain("what tools/guest says of the model cannot be read", -EINVAL);
	m->port = open(port, O_RDONLY | O_CLOEXEC);
	if (m->port < 0)
		return complain("the emulator's port cannot be opened", -errno);
	connect_once();
	err = marker_is_mapped ? 0 : marker_map();
	if (err)
		return complain("no memory to speak with the emulator", err);
	/* Before "begin", after which the emulator watches all code and is slow. */
	err = functions_tell();
	if (err)
		return complain("the kernel's addresses cannot be read", err);
	marker_say("begin");
	return 0;
}

void model_open(const struct model *m)
{
	if (m->port)
		marker_say("open");
}

/* False if it took too long, or is longer than any report. */
static bool report_read(int port, char *text, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		struct pollfd wait = { .fd = port, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, REPORT_MS) != 1)
			return false;
		got = read(port, text + used, size - 1 - used);
		if (got <= 0)
			return false;
		used += got;
		text[used] = '\0';
		if (used >= 4 && !strcmp(text + used - 4, "end\n"))
			return true;
	}
	return false;
}

void model_close(const struct model *m, struct modelled *result)
{
	static char text[REPORT_BYTES];
	char *rest = text;
	bool ended = false;

	if (!m->port)
		return;
	marker_say("close");
	*result = (struct modelled){ .asked = true, .caches = m->caches };
	if (!report_read(m->port, text, sizeof(text))) {
		snprintf(result->why, sizeof(result->why), "the emulator's plugin sent no whole report");
		return;
	}
	result->known = true;
	for (char *line; result->known && !ended && (line = strsep(&rest, "\n"));)
		result->known = model_line_parse(line, result, &ended);
	if (!result->known)
		snprintf(result->why, sizeof(result->why), "the emulator's plugin sent a line that is none");
}

void model_free(struct model *m)
{
	if (m->port > 0)
		close(m->port);
	m->port = 0;
}
