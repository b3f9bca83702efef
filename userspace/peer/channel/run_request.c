// SPDX-License-Identifier: GPL-2.0
/* Hello and plan: what the two hosts exchange before anything is done. */
#include "userspace/peer/channel/run_request.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/json/foreign_json.h"
#include "userspace/common/json/json.h"
#include "userspace/common/sound.h"
#include "userspace/peer/channel/frame.h"
#include "userspace/record/plan.h"
#include "userspace/report/json/parts_json.h"

char *hello_text(const char *kernel)
{
	return json_line(json_pack("{s:s, s:s, s:s}", "version", tool_version, "commit",
				   tool_commit, "kernel", kernel));
}

static const char *string(const json_t *o, const char *key)
{
	const char *value = json_string_value(json_object_get(o, key));

	return value ? value : "?";
}

const char *hello_fault(const char *text, size_t bytes, char *line, size_t size)
{
	json_t *hello = foreign_object(text, bytes);

	*line = '\0';
	if (!hello)
		snprintf(line, size, "%s", frame_why(-EBADMSG));
	else if (strcmp(string(hello, "version"), tool_version) ||
		 strcmp(string(hello, "commit"), tool_commit))
		snprintf(line, size, "it is another build: version %.20s, commit %.40s there; %s, %.40s "
			 "here; install the same on both hosts", string(hello, "version"),
			 string(hello, "commit"), tool_version, tool_commit);
	json_decref(hello);
	return *line ? line : NULL;
}

char *run_request_text(const struct run_request *request)
{
	const struct workload_plan *p = &request->plan;

	return json_line(json_pack("{s:s, s:s, s:s, s:I, s:i, s:I, s:f, s:i, s:b, s:s, s:i, s:b, s:s}", "variant",
				   p->variant, "pattern", p->pattern, "receiver", p->receiver, "bytes",
				   (json_int_t)p->bytes, "threads", p->threads, "messages",
				   (json_int_t)p->messages, "seconds", p->seconds, "readers", p->readers,
				   "unchecked", p->unchecked,
				   "behaviours", plan_behaviours(p).text, "port", request->port, "no_probes", request->no_probes, "role",
				   request->connector == END_SENDER ? "sender" : "receiver"));
}

static int copy_name(char *to, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return -1;
	strcpy(to, from);
	return 0;
}

static const char *read_object(json_t *o, struct run_request *request)
{
	const char *variant, *pattern, *receiver, *behaviours, *role;
	struct workload_plan *p = &request->plan;
	json_int_t bytes, messages, threads, readers, port;
	int no_probes, unchecked;

	*request = (struct run_request){};
	if (json_unpack(o, "{s:s, s:s, s:s, s:I, s:I, s:I, s:F, s:I, s:b, s:s, s:I, s:b, s:s}", "variant",
			&variant, "pattern", &pattern, "receiver", &receiver, "bytes", &bytes,
			"threads", &threads, "messages", &messages, "seconds", &p->seconds, "readers",
			&readers, "unchecked", &unchecked, "behaviours", &behaviours,
			"port", &port, "no_probes", &no_probes, "role", &role))
		return "the plan lacks a key";
	if (copy_name(p->variant, sizeof(p->variant), variant) ||
	    copy_name(p->pattern, sizeof(p->pattern), pattern) ||
	    copy_name(p->receiver, sizeof(p->receiver), receiver))
		return "a name is too long";
	if (plan_behaviours_read(p, behaviours))
		return "unknown behaviour";
	if (bytes < 0 || messages < 0 || threads < 1 || threads > PLAN_THREADS_MAX || readers < 0 ||
	    readers > PLAN_THREADS_MAX || port < 1 || port > 65535)
		return "a number is out of range";
	if (strcmp(role, "sender") && strcmp(role, "receiver"))
		return "unknown role";
	p->bytes = bytes;
	p->messages = messages;
	p->threads = threads;
	p->readers = readers;
	p->unchecked = unchecked;
	request->port = port;
	request->no_probes = no_probes;
	request->connector = strcmp(role, "sender") ? END_RECEIVER : END_SENDER;
	return run_request_fault(request);
}

const char *run_request_read(const char *text, size_t bytes, struct run_request *request)
{
	json_t *o = foreign_object(text, bytes);
	const char *fault = o ? read_object(o, request) : frame_why(-EBADMSG);

	json_decref(o);
	return fault;
}

const char *run_request_fault(const struct run_request *request)
{
	if (request->port < 1 || request->port > 65535)
		return "port out of range";
	if (request->connector != END_SENDER && request->connector != END_RECEIVER)
		return "unknown role";
	if (!sound_flag(&request->no_probes) || !sound_flag(&request->plan.unchecked))
		return "a flag is neither yes nor no";
	if (request->plan.memlock_bytes || request->plan.optmem_bytes)
		return "it sets limits of this system";
	return plan_fault(&request->plan);
}
