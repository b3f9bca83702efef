// SPDX-License-Identifier: GPL-2.0
/* Hello and request: what two halves exchange before anything is done. */
#include "userspace/peer/run_request.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "userspace/report/parts_json.h"

enum { CLOCKS_APART_S = 60 };

json_t *hello_json(const char *connection, int64_t now_s)
{
	return json_pack("{s:s, s:s, s:s, s:I}", "version", tool_version, "commit", tool_commit,
			 "connection", connection, "now_s", (json_int_t)now_s);
}

int64_t hello_clock_ahead_s(const json_t *hello, int64_t now_s)
{
	int64_t there_s = json_integer_value(json_object_get(hello, "now_s")), ahead_s;

	if (there_s <= 0 || __builtin_sub_overflow(there_s, now_s, &ahead_s))
		return 0;
	return ahead_s > CLOCKS_APART_S || ahead_s < -CLOCKS_APART_S ? ahead_s : 0;
}

static const char *string(const json_t *o, const char *key)
{
	const char *value = json_string_value(json_object_get(o, key));

	return value ? value : "?";
}

/* A server that listens for both families names IPv4 addresses so. */
static void strip_mapped(char address[ADDRESS_BYTES])
{
	static const char mapped[] = "::ffff:";

	if (!strncmp(address, mapped, strlen(mapped)) && strchr(address, '.'))
		memmove(address, address + strlen(mapped), strlen(address + strlen(mapped)) + 1);
}

const char *hello_read(const json_t *hello, char near[ADDRESS_BYTES], char far[ADDRESS_BYTES],
		       char *line, size_t size)
{
	if (strcmp(string(hello, "version"), tool_version) ||
	    strcmp(string(hello, "commit"), tool_commit)) {
		snprintf(line, size, "it is another build: version %.20s, commit %.40s there; %s, %.40s "
			 "here; install the same on both hosts", string(hello, "version"),
			 string(hello, "commit"), tool_version, tool_commit);
		return line;
	}
	_Static_assert(ADDRESS_BYTES == 64, "as in the format");
	*near = *far = '\0';
	/* Address and port of the client, address and port of the server. */
	sscanf(string(hello, "connection"), "%63s %*s %63s %*s", near, far);
	strip_mapped(near);
	strip_mapped(far);
	return NULL;
}

json_t *run_request_json(const struct run_request *request)
{
	const struct workload_plan *p = &request->plan;

	return json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:i, s:I, s:f, s:i, s:b, s:s, s:i, s:b, s:b, s:s, s:s, s:s}",
		"variant", p->variant, "pattern", p->pattern, "receiver", p->receiver, "bytes",
		(json_int_t)p->bytes, "piece_bytes", (json_int_t)p->piece_bytes, "threads", p->threads, "messages", (json_int_t)p->messages,
		"seconds", p->seconds, "readers", p->readers, "unchecked", p->unchecked,
		"behaviours", plan_behaviours(p).text, "port", request->port, "no_probes",
		request->no_probes, "fifo", request->fifo, "far", request->far == END_SENDER ? "sender" : "receiver",
		"from", request->address[END_SENDER], "to", request->address[END_RECEIVER]);
}

static int copy_name(char *to, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return -1;
	strcpy(to, from);
	return 0;
}

static bool is_address(const char *text)
{
	unsigned char raw[16];

	return inet_pton(AF_INET, text, raw) == 1 || inet_pton(AF_INET6, text, raw) == 1;
}

static const char *check(const struct run_request *request)
{
	if (!is_address(request->address[END_SENDER]) ||
	    !is_address(request->address[END_RECEIVER]))
		return "an address is none";
	return plan_fault(&request->plan);
}

const char *run_request_read(json_t *o, struct run_request *request)
{
	const char *variant, *pattern, *receiver, *behaviours, *far, *from, *to;
	struct workload_plan *p = &request->plan;
	json_int_t bytes, piece_bytes, messages, threads, readers, port;
	int no_probes, fifo, unchecked;

	*request = (struct run_request){};
	if (json_unpack(
		    o,
		    "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:F, s:I, s:b, s:s, s:I, s:b, s:b, s:s, s:s, s:s}",
		    "variant", &variant, "pattern", &pattern, "receiver", &receiver, "bytes",
		    &bytes, "piece_bytes", &piece_bytes, "threads", &threads, "messages", &messages, "seconds", &p->seconds,
		    "readers", &readers, "unchecked", &unchecked, "behaviours", &behaviours, "port",
		    &port, "no_probes", &no_probes, "fifo", &fifo, "far", &far, "from", &from, "to", &to))
		return "a key is missing";
	if (copy_name(p->variant, sizeof(p->variant), variant) ||
	    copy_name(p->pattern, sizeof(p->pattern), pattern) ||
	    copy_name(p->receiver, sizeof(p->receiver), receiver) ||
	    copy_name(request->address[END_SENDER], ADDRESS_BYTES, from) ||
	    copy_name(request->address[END_RECEIVER], ADDRESS_BYTES, to))
		return "a name is too long";
	if (plan_behaviours_read(p, behaviours))
		return "unknown behaviour";
	if (bytes < 0 || piece_bytes < 0 || messages < 0 || threads < 1 || threads > PLAN_THREADS_MAX || readers < 0 ||
	    readers > PLAN_THREADS_MAX || port < 1 || port > 65535)
		return "a number is out of range";
	if (strcmp(far, "sender") && strcmp(far, "receiver"))
		return "unknown role";
	p->bytes = bytes;
	p->piece_bytes = piece_bytes;
	p->messages = messages;
	p->threads = threads;
	p->readers = readers;
	p->unchecked = unchecked;
	request->port = port;
	request->no_probes = no_probes;
	request->fifo = fifo;
	request->far = strcmp(far, "sender") ? END_RECEIVER : END_SENDER;
	return check(request);
}
