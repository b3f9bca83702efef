// SPDX-License-Identifier: GPL-2.0
/* Parses the options of trace_run for a run on two hosts. */
#include <string.h>
#include <wordexp.h>

#include "userspace/common/option_values.h"
#include "userspace/path/path.h"
#include "userspace/run/options_parts.h"
#include "userspace/tables/paths.h"

enum { KEY_HOST = OPTIONS_KEY_PEER, KEY_HOSTS, KEY_ROLE, KEY_SSH, KEY_FAR, KEY_FAR_HALF };

enum { HOST_BYTES_MOST = 255, FAR_BYTES_MOST = 2000 };

static const struct argp_option option_table[] = {
	{ "host", KEY_HOST, "[USER@]HOST", 0, "make the whole run there, by ssh; with path peer: the other host", 1 },
	{ "hosts", KEY_HOSTS, "FILE", 0, "make it on each host of FILE, one a line, side by side: a row for each", 1 },
	{ "role", KEY_ROLE, "ROLE", 0, "what this host is, sender (default) or receiver", 1 },
	{ "ssh", KEY_SSH, "COMMAND", 0,
	  "what reaches the host (default ssh), as in \"ssh -J gate\"", 1 },
	{ "far", KEY_FAR, "COMMAND", 0,
	  "what a shell starts there as trace_run of the same build (default "
	  "\"sudo -n trace_run\")", 1 },
	/* It is not for users: the far half is started with it. */
	{ "far-half", KEY_FAR_HALF, "CONNECTION", OPTION_HIDDEN, NULL, 1 },
	{},
};

/* As a shell splits it, but no shell runs. */
static char *const *split_command(const char *value)
{
	static wordexp_t split;

	if (wordexp(value, &split, WRDE_NOCMD | WRDE_UNDEF) || !split.we_wordc ||
	    split.we_wordc > SSH_WORDS_MAX || !*split.we_wordv[0])
		options_fail("--ssh '%s' must be a few words, split as a shell splits them, and "
			     "start no other command", value);
	return split.we_wordv;
}

static void check_partner(struct path_request *request)
{
	struct path_partner *p = &request->partner;
	bool peer = path_has(request->kind, PATH_TWO_HOSTS);

	if (p->connection)
		request->kind = path_rows[PATH_peer].name;
	else if (!peer && p->given)
		options_fail("%s", "--role and --far are of two hosts: use --path peer; --ssh needs --host, too");
	else if (peer && !p->host)
		options_fail("%s", "--path peer needs the other host: --host [USER@]HOST");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const roles[] = { [END_SENDER] = "sender",
					     [END_RECEIVER] = "receiver",
					     NULL };
	struct path_request *request = state->input;
	struct path_partner *p = &request->partner;

	switch (key) {
	case KEY_HOST:
		if (!*arg || *arg == '-' || strlen(arg) > HOST_BYTES_MOST)
			options_fail("--host '%s' must name a host, as in lab2 or me@192.0.2.7",
				     arg);
		p->host = arg;
		break;
	case KEY_HOSTS:
		options_fail("--hosts %s: tools/trace_run makes whole runs there; with --path peer give --host", arg);
	case KEY_ROLE:
		p->here = options_one_of(roles, arg, "unknown role '%s'");
		break;
	case KEY_SSH:
		p->ssh = split_command(arg);
		break;
	case KEY_FAR:
		if (!*arg || strlen(arg) > FAR_BYTES_MOST)
			options_fail("--far '%s' must be a command of the other host", arg);
		p->far = arg;
		break;
	case KEY_FAR_HALF:
		p->connection = arg;
		break;
	case ARGP_KEY_END:
		check_partner(request);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	p->given = true;
	return 0;
}

const struct argp options_peer_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };
