// SPDX-License-Identifier: GPL-2.0
/* Parses the options of trace_run for a run on two hosts. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/common/options/values.h"
#include "userspace/path/path.h"
#include "userspace/record/plan.h"
#include "userspace/run/options/options_parts.h"
#include "userspace/tables/paths.h"

enum { KEY_LISTEN = OPTIONS_KEY_PEER, KEY_CONNECT, KEY_ROLE, KEY_KEY_FILE, KEY_MAX_BYTES,
       KEY_MAX_CONNECTIONS, KEY_MAX_SECONDS };

static const struct argp_option option_table[] = {
	{ "listen", KEY_LISTEN, "ADDRESS[:PORT]", OPTION_ARG_OPTIONAL,
	  "path peer: wait here for the other host, make one run with it, end (default 127.0.0.1:9009)",
	  1 },
	{ "connect", KEY_CONNECT, "ADDRESS[:PORT]", 0, "path peer: the other host, which listens", 1 },
	{ "role", KEY_ROLE, "ROLE", 0,
	  "with --connect: what this host is, receiver or sender (default receiver)", 1 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0,
	  "path peer: the key that both hosts share, unless both ends are loopback addresses; or the "
	  "variable COPYSCOPE_PEER_KEY", 1 },
	{ "max-bytes", KEY_MAX_BYTES, "N", 0,
	  "with --listen: the largest message that the partner may ask for (default 1M)", 1 },
	{ "max-connections", KEY_MAX_CONNECTIONS, "N", 0, "how many connections (default 64)", 1 },
	{ "max-seconds", KEY_MAX_SECONDS, "S", 0, "for how long (default 60)", 1 },
	{},
};

/* Splits "10.0.0.2:9009", "[fd00::2]:9009" or a bare address; false if it makes no sense. */
static bool split_port(const char *value, struct path_partner *partner)
{
	const char *close = *value == '[' ? strchr(value, ']') : NULL;
	const char *colon = close ? close + 1 : strchr(value, ':');
	bool bare = !close && (!colon || strchr(colon + 1, ':'));
	size_t length = bare ? strlen(value) : close ? (size_t)(close - value - 1) :
		        (size_t)(colon - value);
	const char *port = bare ? "" : colon;
	uint64_t number;

	if (length >= sizeof(partner->address) || (*value == '[' && !close))
		return false;
	memcpy(partner->address, value + !!close, length);
	partner->address[length] = '\0';
	if (!*port)
		return true;
	if (*port != ':' || whole_parse(port + 1, NUMBER_PLAIN, 1, 65535, &number))
		return false;
	partner->port = number;
	return true;
}

static void parse_partner(const char *value, const char *option, struct path_partner *partner)
{
	static const struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST,
						 .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char help[160];

	snprintf(help, sizeof(help), "%s '%%s' must be a numeric address, with a port if you like, as in "
		 "10.0.0.2:9009 or [fd00::2]:9009", option);
	if (!split_port(value, partner) || getaddrinfo(partner->address, NULL, &numeric, &found))
		options_fail(help, value);
	freeaddrinfo(found);
}

static void parse_listen(char *value, struct argp_state *state, struct path_request *request)
{
	/* getopt does not take the next word as a value if the value may be left out. */
	if (!value && state->next < state->argc && *state->argv[state->next] != '-')
		value = state->argv[state->next++];
	request->partner.listen = true;
	if (value)
		parse_partner(value, "--listen", &request->partner);
}

static void parse_role(const char *value, struct path_request *request)
{
	if (strcmp(value, "sender") && strcmp(value, "receiver"))
		options_fail("unknown role '%s'; it must be receiver or sender", value);
	request->partner.here = strcmp(value, "sender") ? END_RECEIVER : END_SENDER;
	request->partner.role_given = true;
}

static void check_partner(const struct path_request *request)
{
	const struct path_partner *p = &request->partner;
	bool peer = path_has(request->kind, PATH_TWO_HOSTS);

	if (!peer && (p->listen || p->connect))
		options_fail("--listen and --connect are for two hosts, not for path %s: use --path peer",
			     request->kind);
	if (peer && p->listen == p->connect)
		options_fail("%s", "--path peer needs --listen on one host and --connect ADDRESS on the "
			     "other");
	if (!peer && p->key_file)
		options_fail("%s", "--key-file is for two hosts: use --path peer");
	if (p->limits_given && !p->listen)
		options_fail("%s", "--max-bytes, --max-connections and --max-seconds bound what a partner "
			     "may ask for: give them to the host that listens");
	if (p->role_given && !p->connect)
		options_fail("%s", "--role goes with --connect: the listening host is the other end");
	if (p->listen && request->port_given)
		options_fail("%s", "--port goes with --connect, which sends the port to the listening host");
	if (p->connect && request->port == p->port)
		options_fail("%s", "--port must differ from the port of --connect");
	if (peer && (*request->address[END_SENDER] || *request->device[END_SENDER]))
		options_fail("%s", "--addresses and --devices: path peer uses those that the hosts have");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct path_request *request = state->input;
	struct path_limits *limits = &request->partner.limits;

	switch (key) {
	case KEY_LISTEN:
		parse_listen(arg, state, request);
		break;
	case KEY_CONNECT:
		request->partner.connect = true;
		parse_partner(arg, "--connect", &request->partner);
		break;
	case KEY_ROLE:
		parse_role(arg, request);
		break;
	case KEY_KEY_FILE:
		if (!*arg)
			options_fail("%s", "--key-file names no file");
		request->partner.key_file = arg;
		break;
	case KEY_MAX_BYTES:
		limits->bytes = options_whole(arg, PLAN_BYTES_MIN, PLAN_BYTES_MAX, "--max-bytes");
		request->partner.limits_given = true;
		break;
	case KEY_MAX_CONNECTIONS:
		limits->connections = options_whole(arg, 1, PLAN_THREADS_MAX, "--max-connections");
		request->partner.limits_given = true;
		break;
	case KEY_MAX_SECONDS:
		limits->seconds = options_seconds(arg, PLAN_SECONDS_MAX, "--max-seconds");
		request->partner.limits_given = true;
		break;
	case ARGP_KEY_END:
		check_partner(request);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp options_peer_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };
