// SPDX-License-Identifier: GPL-2.0
/* Names what is modelled, and reads the lines that the emulator's plugin reports. */
#include "userspace/counters/modelled.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)MODEL_SITES <= (int)MARKER_SITES, "the plugin counts fewer sites");

const char *model_site_name(enum model_site site)
{
	static const char *const names[] = { "elsewhere", "user_gather", "tx_copy", "pin", "late_copy",
					     "reshape", "checksum", "rx_copy" };

	return names[site];
}

const char *model_role_name(unsigned int role)
{
	static const char *const names[] = { "other", "sender", "receiver" };

	return names[role];
}

const char *model_context_name(enum marker_context context)
{
	static const char *const names[] = { "user", "kernel", "softirq" };

	return names[context];
}

const char *model_count_name(enum marker_count count)
{
	static const char *const names[] = {
		"instructions", "loads", "stores", "lines", "l1d_misses", "l2_misses", "llc_misses",
		"l1d_load_misses", "l2_load_misses", "llc_load_misses", "copied_bytes", "calls",
	};

	return names[count];
}

const char *model_level_name(unsigned int level)
{
	static const char *const names[] = { "l1d", "l2", "llc" };

	return names[level];
}

bool model_caches_parse(const char *text, char *port, size_t port_size, struct model_caches *c)
{
	char place[64];
	int allocate;

	if (sscanf(text, "%63s %63s %31s %u %15s %d %" SCNu64 " %u %" SCNu64 " %u %" SCNu64 " %u", place,
		   c->name, c->emulator, &c->line_bytes, c->llc_kind, &allocate, &c->level[0].bytes,
		   &c->level[0].ways, &c->level[1].bytes, &c->level[1].ways, &c->level[2].bytes,
		   &c->level[2].ways) != 12)
		return false;
	c->write_allocate = allocate;
	return (size_t)snprintf(port, port_size, "%s", place) < port_size;
}

bool model_line_parse(const char *line, struct modelled *m, bool *ended)
{
	unsigned int role, context, site;
	uint64_t counts[MARKER_COUNTS];
	char *rest;
	int used;

	*ended = !strcmp(line, "end");
	if (*ended)
		return true;
	if (sscanf(line, "cell %u %u %u%n", &role, &context, &site, &used) != 3 ||
	    role >= MARKER_ROLES || context >= MARKER_CONTEXTS || site >= MODEL_SITES)
		return false;
	line += used;
	for (int i = 0; i < MARKER_COUNTS; i++) {
		counts[i] = strtoull(line, &rest, 10);
		if (rest == line)
			return false;
		line = rest;
	}
	memcpy(m->count[role][context][site], counts, sizeof(counts));
	return !*line;
}

uint64_t model_sum(const struct modelled *m, unsigned int role, unsigned int context,
		   enum marker_count count)
{
	uint64_t sum = 0;

	for (unsigned int c = 0; c < MARKER_CONTEXTS; c++)
		for (int s = 0; s < MODEL_SITES; s++)
			sum += context == MARKER_CONTEXTS || context == c ? m->count[role][c][s][count] : 0;
	return sum;
}
