// SPDX-License-Identifier: GPL-2.0
/* Turns the plan of a run into the command lines of the workload's two ends. */
#include "userspace/run/ends/workload_argv.h"

#include <stdio.h>
#include <string.h>

#include "userspace/run/ends/ending.h"

/* How long nothing may move at all. TCP itself may pause for longer when each packet is lost. */
#define PATIENCE_S "30"

int ends_launch(struct child children[END_COUNT], const char *workload,
		const struct workload_plan *plan, const struct path *path)
{
	char bytes[24], threads[24], readers[24], port[24], amount[40];
	const char *check = plan->unchecked ? "none" : "content";
	struct behaviour_names behaviours = plan_behaviours(plan);
	const char *how_long = plan->messages ? "--messages" : "--seconds";
	/* Only the end that decides when to stop gets the limit: the client in rr, else the
	 * server. */
	bool client_decides = !strcmp(plan->pattern, "rr");
	const char *fault = plan->count_fin ? "--count-fin" : "--json";
	const char *bell = plan->modelled ? "--bell" : "--json";
	const char *server[] = { workload, "server", plan->variant, bytes, "--json", fault, bell,
				 "--patience", PATIENCE_S,
				 "--listen", path->address, "--port", port, "--pattern", plan->pattern,
				 "--check", check, "--behaviours", behaviours.text, "--clients", threads, how_long, amount,
				 *path->from ? "--from" : NULL, path->from, NULL };
	const char *client[] = { workload, "client", bytes, threads, "--json", fault, bell,
				 "--patience", PATIENCE_S,
				 "--connect", path->address, "--port", port, "--pattern", plan->pattern,
				 "--check", check, "--behaviours", behaviours.text,
				 plan->readers ? "--readers" : "--receiver",
				 plan->readers ? readers : plan->receiver,
				 client_decides ? how_long : NULL, amount, NULL };
	const char *const *argv[] = { server, client };
	int err = 0;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)plan->bytes);
	snprintf(port, sizeof(port), "%d", path->port);
	snprintf(threads, sizeof(threads), "%d", plan->threads);
	snprintf(readers, sizeof(readers), "%d", plan->readers);
	if (plan->messages)
		snprintf(amount, sizeof(amount), "%llu", (unsigned long long)plan->messages);
	else
		snprintf(amount, sizeof(amount), "%.9f", plan->seconds);
	for (int e = 0; e < END_COUNT && !err; e++) {
		if (path->ns[e] < 0)
			continue;
		err = path_enter(path, e);
		if (!err)
			err = child_launch(&children[e], argv[e], plan->memlock_bytes);
		children[e].decides = client_decides == (e == END_RECEIVER);
	}
	path_leave(path);
	if (err && !ending_asked())
		fprintf(stderr, "trace_run: cannot start the workload: %s\n", strerror(-err));
	return err;
}
