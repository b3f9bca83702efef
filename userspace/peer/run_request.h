/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the near half asks of the far one, and what that one says of itself before.
 *
 * Pure: from JSON to checked structs and back. A request may contain what the command line may
 * contain, numbers in range and names from the same tables; never a path or a command.
 */
#ifndef COPYSCOPE_RUN_REQUEST_H
#define COPYSCOPE_RUN_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/path/path_info.h"
#include "userspace/record/plan.h"

/* What to run. */
struct run_request {
	struct workload_plan plan;
	int port;		/* that the sender listens on */
	bool no_probes;
	bool fifo;		/* under SCHED_FIFO */
	enum end far;	/* the end that the far half is */
	char address[END_COUNT][ADDRESS_BYTES];
};

/* @connection: SSH_CONNECTION, by which sshd(8) names both ends of what it serves; or empty.
 * @now_s: CLOCK_REALTIME. */
json_t *hello_json(const char *connection, int64_t now_s);
json_t *run_request_json(const struct run_request *request);

/* The addresses that a hello names, if it does; NULL, or one line that explains why the two
 * cannot work together. */
const char *hello_read(const json_t *hello, char near[ADDRESS_BYTES], char far[ADDRESS_BYTES],
		       char *line, size_t size);

/* By how many seconds the clock that a hello tells is ahead of ours, if that is more than a minute; else 0. Numbers of
 * a run are by the clock of one host each, but logs and other records of the two would not match. */
int64_t hello_clock_ahead_s(const json_t *hello, int64_t now_s);

/* NULL, or what is wrong with it. */
const char *run_request_read(json_t *o, struct run_request *request);

#endif
