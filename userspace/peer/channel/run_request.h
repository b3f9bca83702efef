/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first frames of two hosts: hello, with the version, and the plan, with what to run.
 *
 * Pure: from JSON to checked structs and back. A plan may contain what the command line may
 * contain, numbers in range and names from the same tables; never a path or a command.
 */
#ifndef COPYSCOPE_RUN_REQUEST_H
#define COPYSCOPE_RUN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "userspace/path/path_info.h"
#include "userspace/record/plan.h"

/* What to run, as the connecting host requests it. */
struct run_request {
	struct workload_plan plan;
	int port;		/* that the sender listens on */
	bool no_probes;
	enum end connector;	/* the end that the connecting host is */
};

/* Texts that are the caller's to free; NULL without memory. */
char *hello_text(const char *kernel);
char *run_request_text(const struct run_request *request);

/* One line that explains why the two cannot work together; NULL if they can. */
const char *hello_fault(const char *text, size_t bytes, char *line, size_t size);

/* NULL, or what is wrong with it. */
const char *run_request_read(const char *text, size_t bytes, struct run_request *request);
const char *run_request_fault(const struct run_request *request);

#endif
