// SPDX-License-Identifier: GPL-2.0
/* Compares a partner's plan with what the user of the listening host allows. */
#include "userspace/peer/channel/limits.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * A connection needs two messages to send in turn, or a pool of 4 MiB of small ones (sender.h of
 * the workload), and one that arrives; the kernel queues 4 MiB to send or 6 MiB to read, by the
 * defaults of tcp_wmem and tcp_rmem.
 */
enum { MESSAGES_HELD = 3, CONNECTION_BYTES = 8 << 20, RUN_BYTES = 32 << 20 };

void limits_memory(struct path_limits *limits)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t free_kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &free_kib) == 1)
			break;
	if (file)
		fclose(file);
	limits->memory_bytes = free_kib << 9;
}

uint64_t limits_bytes_needed(const struct workload_plan *plan)
{
	return RUN_BYTES + plan->threads * (MESSAGES_HELD * plan->bytes + CONNECTION_BYTES);
}

const char *limits_fault(const struct path_limits *limits, const struct workload_plan *plan,
			 char *line, size_t size)
{
	uint64_t needed = limits_bytes_needed(plan);

	if (plan->bytes > limits->bytes)
		snprintf(line, size, "it asks for messages of %" PRIu64 " bytes, and --max-bytes here "
			 "allows %" PRIu64, plan->bytes, limits->bytes);
	else if (plan->threads > limits->connections)
		snprintf(line, size, "it asks for %d connections, and --max-connections here allows %d",
			 plan->threads, limits->connections);
	else if (!plan->messages && plan->seconds > limits->seconds)
		snprintf(line, size, "it asks for %g seconds, and --max-seconds here allows %g",
			 plan->seconds, limits->seconds);
	else if (limits->memory_bytes && needed > limits->memory_bytes)
		snprintf(line, size, "it may need %" PRIu64 " MiB, and half of the free memory here is %"
			 PRIu64, needed >> 20, limits->memory_bytes >> 20);
	else
		return NULL;
	return line;
}
