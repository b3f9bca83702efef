// SPDX-License-Identifier: GPL-2.0
/* Reads the command line. */
#include "studies/baseline/settings.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/printable.h"
#include "userspace/common/numbers.h"
#include "userspace/tables/release.h"

enum { KEY_ONLY = 256, KEY_QUICK, KEY_RUNS, KEY_ROUNDS, KEY_RTT, KEY_NICS, KEY_DIR, KEY_DROP, KEY_BREAK, KEY_HOST,
       KEY_JSON, KEY_LIST };

enum { FULL_RUNS = 10, QUICK_RUNS = 6, DEFAULT_ROUNDS = 1, RTT_MS_MAX = 500 };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What:", 1 },
	{ "only", KEY_ONLY, "NAME", 0, "this row or family alone; can be repeated", 1 },
	{ "list", KEY_LIST, NULL, 0, "list families and rows, and measure nothing", 1 },
	{ NULL, 0, NULL, 0, "How:", 2 },
	{ "quick", KEY_QUICK, NULL, 0, "fewer calls and runs: under a minute", 2 },
	{ "runs", KEY_RUNS, "N", 0, "runs of each row in a round, 2 to 30 (default 10)", 2 },
	{ "rounds", KEY_ROUNDS, "N", 0, "rounds over all rows, 1 to 10 (default 1)", 2 },
	{ "rtt", KEY_RTT, "MS", 0, "round trip of the remote path, 1 to 500 ms (default 6)", 2 },
	{ "nics", KEY_NICS, "A,B", 0,
	  "two cards that are down and connected: the remote path, each in a namespace of its own and without a delay", 2 },
	{ "host", KEY_HOST, "[USER@]HOST", 0, "measure that host, by ssh, and keep its record here", 2 },
	{ "ssh", KEY_HOST, "COMMAND", 0, "of --host: what reaches it (default ssh)", 2 },
	{ "dir", KEY_DIR, "DIR", 0, "where files of up to 200 MiB are made, without a name, on a real disk (default .)", 2 },
	{ "drop-caches", KEY_DROP, NULL, 0,
	  "empty the whole machine's caches before file reads; else only the test's own", 2 },
	{ "break", KEY_BREAK, "WHAT", OPTION_HIDDEN, "inject a fault, for tests", 2 },
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "json", KEY_JSON, "FILE", 0,
	  "write the record there, - for stdout (default: in COPYSCOPE_RUNS, or results/runs/)", 3 },
	{ "quiet", 'q', NULL, 0, "no report", 3 },
	{ "help", 'h', NULL, 0, "show this text", -1 },
	{ "version", 'V', NULL, 0, "show the release and the commit that was built", -1 },
	{},
};

void settings_refuse(const char *format, const char *what)
{
	fprintf(stderr, "baseline: ");
	fprintf(stderr, format, printable(what));
	fprintf(stderr, "; see %s --help\n", printable(program_invocation_short_name));
	exit(2);
}

static int whole(const char *text, int min, int max, const char *message)
{
	uint64_t number;

	if (whole_parse(text, NUMBER_PLAIN, min, max, &number))
		settings_refuse(message, text);
	return number;
}

static void parse_nics(const char *text, struct protocol *p)
{
	char rest;

	if (sscanf(text, "%15[^,/ ],%15[^,/ ]%c", p->nics[0], p->nics[1], &rest) != 2 ||
	    !strcmp(p->nics[0], p->nics[1]))
		settings_refuse("--nics '%s' must be two names of network cards, such as eth1,eth2", text);
	p->rtt_ms = 0;
}

/* False if the key is none of the protocol's. */
static bool parse_protocol(int key, char *arg, struct protocol *p)
{
	int fault;

	switch (key) {
	case KEY_QUICK:
		p->quick = true;
		break;
	case KEY_RUNS:
		p->runs = whole(arg, 2, RUNS_MAX, "--runs '%s' must be a whole number from 2 to 30");
		break;
	case KEY_ROUNDS:
		p->rounds = whole(arg, 1, ROUNDS_MAX,
				  "--rounds '%s' must be a whole number from 1 to 10");
		break;
	case KEY_RTT:
		p->rtt_ms = whole(arg, 1, RTT_MS_MAX,
				  "--rtt '%s' must be a whole number of milliseconds from 1 to 500");
		break;
	case KEY_NICS:
		parse_nics(arg, p);
		break;
	case KEY_DIR:
		p->dir = arg;
		break;
	case KEY_DROP:
		p->drop_caches = true;
		break;
	case KEY_BREAK:
		fault = fault_inject_named(arg);
		if (fault < 0)
			settings_refuse("--break '%s' is not known", arg);
		p->fault = fault;
		break;
	default:
		return false;
	}
	return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;

	switch (key) {
	case KEY_ONLY:
		if (s->only_count == ONLY_MAX)
			settings_refuse("--only %s: too many names", arg);
		s->only[s->only_count++] = arg;
		break;
	case KEY_HOST:
		settings_refuse("another host is measured by copyscope baseline --host [USER@]HOST; here that is '%s'", arg);
		break;
	case KEY_LIST:
		s->list = true;
		break;
	case KEY_JSON:
		if (!*arg)
			settings_refuse("--json names no file%s", "");
		s->json = arg;
		break;
	case 'q':
		s->quiet = true;
		break;
	case 'V':
		release_print();
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
			  "copyscope baseline");
		exit(0);
	case ARGP_KEY_ERROR:
		settings_refuse("'%s' is no option, or lacks its value", state->argv[state->next - 1]);
	case ARGP_KEY_ARG:
		settings_refuse("'%s' is not an option", arg);
	default:
		return parse_protocol(key, arg, &s->protocol) ? 0 : ARGP_ERR_UNKNOWN;
	}
	return 0;
}

bool settings_want(const struct settings *s, const char *family, const char *row)
{
	for (int i = 0; i < s->only_count; i++)
		if (!strcmp(s->only[i], family) || !strcmp(s->only[i], row))
			return true;
	return !s->only_count;
}

static const char args_doc[] =
	"\nmistakes RECORD\nagree RECORD RECORD\nplot RECORD --out DIR\nkeep RECORD... --out DIR";

static const char doc[] =
	"Measures what this machine's operating system costs, and proves by counters what each number "
	"measures.\v"
	"Each row is run first beside counters, which must show that it does what its name says, and then "
	"without them for its time. A row that does not is INVALID and gets no number. Without root only rows "
	"of software are measured, and nothing proves them.\n\n"
	"These read records and need no root:\n"
	"  mistakes  holds the known mistakes of the published report against one\n"
	"  agree     says whether the intervals of two overlap, row by row\n"
	"  plot      draws figures, as SVG and PNG\n"
	"  keep      stores records in a folder, with the first one's table and figures\n\n"
	"Exit: 0 all rows that were measured hold their invariants; 1 one does not, the run failed, or records "
	"disagree; 2 bad usage; 3 the system refuses.\n"
	"examples: sudo copyscope baseline --quick\n"
	"          sudo copyscope baseline --only switch --only tcp-rtt\n"
	"          copyscope baseline agree monday.json tuesday.json";

void baseline_settings_parse(int argc, char **argv, struct settings *s)
{
	static const struct argp argp = { option_table, parse, args_doc, doc, NULL, NULL, NULL };
	struct protocol *p = &s->protocol;

	*s = (struct settings){ .protocol = { .rtt_ms = 6, .dir = "." } };
	/* argp's own complaints take two lines and name the program's whole path. */
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, s))
		exit(2);
	if (!p->runs)
		p->runs = p->quick ? QUICK_RUNS : FULL_RUNS;
	if (!p->rounds)
		p->rounds = DEFAULT_ROUNDS;
}
