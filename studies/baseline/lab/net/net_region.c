// SPDX-License-Identifier: GPL-2.0
/* Reads the statistics of devices and of TCP before and after. */
#include "studies/baseline/lab/net/net_region.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "studies/baseline/bench/region.h"

/* What the devices of this namespace carried so far, by their statistics. */
struct carried {
	double received_bytes, sent, sent_by_others;
};

/* Of the thread's own namespace, which /proc/net is not. */
static struct carried read_devices(const struct work *w)
{
	FILE *file = fopen("/proc/thread-self/net/dev", "re");
	struct carried c = { NAN, NAN, 0 };
	double bytes, sent;
	char line[512], name[64];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %63[^:]: %lf %*f %*f %*f %*f %*f %*f %*f %*f %lf", name, &bytes,
			   &sent) != 3)
			continue;
		if (strcmp(name, w->device)) {
			c.sent_by_others += sent;
			continue;
		}
		c.received_bytes = bytes;
		c.sent = sent;
	}
	if (file)
		fclose(file);
	return c;
}

double net_received_bytes(const struct work *w)
{
	return read_devices(w).received_bytes;
}

/* TCP's own statistics of this namespace: a line of names, and one of numbers. */
static void read_tcp(double *opens, double *resets)
{
	FILE *file = fopen("/proc/thread-self/net/snmp", "re");
	double active, passive, established, sent;
	char line[1024];

	*opens = *resets = NAN;
	while (file && fgets(line, sizeof(line), file)) {
		/* RFC 4022 in the kernel's order: net/ipv4/proc.c, snmp4_tcp_list. */
		if (sscanf(line, "Tcp: %*d %*d %*d %*d %lf %lf %*f %lf %*f %*f %*f %*f %*f %lf",
			   &active, &passive, &established, &sent) != 4)
			continue;
		*opens = active + passive;
		*resets = established + sent;
	}
	if (file)
		fclose(file);
}

void net_region_begin(struct work *w)
{
	struct carried c = read_devices(w);
	double opens, resets;

	read_tcp(&opens, &resets);
	w->witness[WITNESS_OPENS] = -opens;
	w->witness[WITNESS_RESETS] = -resets;
	w->witness[WITNESS_PACKETS] = -c.sent;
	w->witness[WITNESS_STRAYS] = -c.sent_by_others;
	region_begin(w);
}

void net_region_end(struct work *w)
{
	double opens, resets;
	struct carried c;

	region_end(w);
	read_tcp(&opens, &resets);
	w->witness[WITNESS_OPENS] += opens;
	w->witness[WITNESS_RESETS] += resets;
	c = read_devices(w);
	w->witness[WITNESS_PACKETS] += c.sent;
	w->witness[WITNESS_STRAYS] += c.sent_by_others;
}
