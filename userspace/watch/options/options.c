// SPDX-License-Identifier: GPL-2.0
/* Parses the command line of copyscope watch: bad input ends here, before anything is touched. */
#include "userspace/watch/options/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/common/option_values.h"
#include "userspace/record/cpu.h"
#include "userspace/tables/release.h"

enum { KEY_COMM = 256, KEY_CGROUP, KEY_UNIT, KEY_CONTAINER, KEY_NETNS, KEY_PORT, KEY_ALL, KEY_EXCLUDE,
       KEY_CHILDLESS, KEY_AS_ROOT, KEY_SECONDS, KEY_INTERVAL, KEY_BY, KEY_SORT, KEY_TOP, KEY_BOOKS, KEY_DETAIL,
       KEY_CPU, KEY_SIZES, KEY_BACKEND, KEY_JSON, KEY_NO_KEEP, KEY_LINES, KEY_HTML, KEY_STACKS, KEY_FOLDED,
       KEY_PPROF, KEY_CSV, KEY_LAWS, KEY_EXACT, KEY_COLOR, KEY_METRICS, KEY_SERVE, KEY_STATE, KEY_SERVICES,
       KEY_ROTATE, KEY_TABLE, KEY_FOLD_LINES, KEY_HOST, KEY_HOSTS, KEY_SSH, KEY_FAIL_ON, KEY_BREAK };

/* PID_MAX_LIMIT of 64-bit kernels. */
enum { PID_MOST = 1 << 22 };

/* Below this a live view is mostly its own cost. */
#define INTERVAL_LEAST 0.1

const char *const watch_rows_names[] = {
	[ROWS_SERVICES] = "service", [ROWS_SOCKETS] = "socket", [ROWS_PROCESSES] = "process", [ROWS_CGROUPS] = "cgroup",
	[ROWS_PEERS] = "peer", [ROWS_PORTS] = "port", NULL
};
const char *const watch_order_names[] = {
	[ROWS_BY_COPIED] = "copied", [ROWS_BY_SENT] = "sent", [ROWS_BY_RECEIVED] = "received",
	[ROWS_BY_AVOIDABLE] = "avoidable", [ROWS_BY_CPU] = "cpu", [ROWS_BY_NAME] = "name", NULL
};
static const char *const fault_names[] = { [FAULT_NONE] = "nothing", WATCH_FAULTS(FAULT_WORD) NULL };
static const char *const backend_names[] = { [BACKEND_AUTO] = "auto",
					     [BACKEND_TRAMPOLINE] = "trampoline",
					     [BACKEND_TRACEPOINT] = "tracepoint", NULL };
static const char *const books_names[] = { [WATCH_SEQUENCE] = "sequence", [WATCH_CALLS] = "calls",
					   NULL };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Whom. Of one kind any may fit, of several kinds each must; names may have * and ?:", 1 },
	{ "pid", 'p', "PID[,PID...]", 0, "these processes, and what they started and start", 1 },
	{ "no-children", KEY_CHILDLESS, NULL, 0, "with -p: these processes alone", 1 },
	{ "comm", KEY_COMM, "NAME", 0, "every process with this name, as ps -o comm shows it, or started by this word", 1 },
	{ "unit", KEY_UNIT, "NAME", 0, "every process of this unit of systemd", 1 },
	{ "container", KEY_CONTAINER, "NAME", 0,
	  "every process of this container: by its name, the beginning of its id, or POD, NAMESPACE/POD", 1 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "every process in this control group and below it", 1 },
	{ "port", KEY_PORT, "N[-M][,N...]", 0, "every socket whose local or remote port is N, or one from N to M", 1 },
	{ "netns", KEY_NETNS, "PID", 0, "every socket in the network namespace of PID", 1 },
	{ "all", KEY_ALL, NULL, 0, "every TCP and UDP socket of this machine, the kernel's own, too", 1 },
	{ "exclude", KEY_EXCLUDE, "[KIND=]NAME", 0,
	  "but not these; KIND is comm (default), unit, container, cgroup or port", 1 },
	{ "as-root", KEY_AS_ROOT, NULL, 0,
	  "start COMMAND as root, not as the user who called sudo", 1 },
	{ "host", KEY_HOST, "[USER@]HOST", 0,
	  "watch there: copyscope-collect goes there by ssh, and leaves nothing; without root it takes sudo -n", 1 },
	{ "hosts", KEY_HOSTS, "FILE", 0, "the same on each host of FILE, one a line, side by side: a row for each", 1 },
	{ "ssh", KEY_SSH, "COMMAND", 0, "what reaches them (default ssh)", 1 },
	{ NULL, 0, NULL, 0, "How long:", 2 },
	{ "seconds", KEY_SECONDS, "S", 0,
	  "stop after S seconds (default: when all watched processes have ended, or at Ctrl-C)", 2 },
	{ "interval", KEY_INTERVAL, "S", 0,
	  "show what happened every S seconds, of many sockets more seldom: live on a terminal, else a block each time", 2 },
	{ NULL, 0, NULL, 0, "How it is counted and shown:", 3 },
	{ "by", KEY_BY, "WHAT", 0,
	  "rows of tables: service (default: a unit, a container or a program of a user), process, socket, cgroup, peer or "
	  "(local) port", 3 },
	{ "sort", KEY_SORT, "HOW", 0,
	  "which rows come first: copied (default), sent, received, avoidable, name, or, with --cpu and of the report, cpu", 3 },
	{ "top", KEY_TOP, "N", 0, "at most N rows (default 10, live as many as fit)", 3 },
	{ "books", KEY_BOOKS, "WHICH", 0,
	  "sequence: plain sends and receives from TCP's sequence numbers, which costs them nothing "
	  "(default); calls: from a probe in each call", 3 },
	{ "detail", KEY_DETAIL, NULL, 0,
	  "with trampolines, causes by the kernel's stacks, and what is copied between buffers of packets; packets that "
	  "left, pages, and with --books calls what else a run counts of sockets; costs more", 3 },
	{ "cpu", KEY_CPU, "HZ", OPTION_ARG_OPTIONAL,
	  "sample what runs on each processor, HZ times a second (default 199): what copying takes of CPU time", 3 },
	{ "sizes", KEY_SIZES, NULL, 0,
	  "how many bytes each send and receive moved, as histograms of each process and way, and how long zero copy "
	  "held pages; counts calls as --books calls does", 3 },
	{ "stacks", KEY_STACKS, "KIB", OPTION_ARG_OPTIONAL,
	  "bytes by the stack of the program that sent or received them; with --books calls, and costs more; with KIB one "
	  "byte of so many KiB is sampled, which costs less", 3 },
	{ "backend", KEY_BACKEND, "B", 0, "auto, trampoline or tracepoint (default auto)", 3 },
	{ "json", KEY_JSON, "FILE", 0,
	  "write the record there, - for stdout (default: in COPYSCOPE_RUNS, or results/runs/, where the newest 100 stay)", 3 },
	{ "no-keep", KEY_NO_KEEP, NULL, 0, "without --json: keep no record", 3 },
	{ "json-lines", KEY_LINES, "FILE", 0,
	  "write what moved in each interval there, a line each, - for stdout", 3 },
	/* What metrics are made of (tools/lib/copyscope/metrics/command.py). */
	{ "fold-lines", KEY_FOLD_LINES, NULL, OPTION_HIDDEN, NULL, 3 },
	{ "html", KEY_HTML, "FILE", 0, "write the report there as one page, with its copy maps", 3 },
	{ "csv", KEY_CSV, "FILE", 0, "write the rows there as CSV, all of them, with every digit", 3 },
	{ "pprof", KEY_PPROF, "FILE", 0, "write the stacks there as pprof reads them", 3 },
	{ "folded", KEY_FOLDED, "FILE", 0, "write the stacks there, a line each, as flame graphs are made of", 3 },
	{ "rotate", KEY_ROTATE, "SIZE[,N]", 0,
	  "begin FILE of --json-lines anew once it would exceed SIZE (100M), and keep N full ones (default 5)", 3 },
	{ "metrics", KEY_METRICS, "FILE", 0,
	  "write counters for Prometheus there at each interval (default 15 s), as node_exporter reads them", 3 },
	{ "serve", KEY_SERVE, "[ADDR:]PORT", 0, "answer scrapes of the same there, on loopback unless told", 3 },
	{ "state", KEY_STATE, "FILE", 0,
	  "where these counters go on from after a restart (default $STATE_DIRECTORY, else beside FILE of --metrics)", 3 },
	{ "services", KEY_SERVICES, "N", 0, "tell at most N services apart in them (default 200)", 3 },
	{ "table", KEY_TABLE, NULL, 0,
	  "in place of the report print bytes by site and by row, for a host without Python", 3 },
	{ "laws", KEY_LAWS, NULL, 0, "show every law that was tested, with both sides", 3 },
	{ "exact", KEY_EXACT, NULL, 0, "every digit of sites, causes and rows, and each site", 3 },
	{ "color", KEY_COLOR, "WHEN", 0, "colours: auto (default: on a terminal, unless NO_COLOR), always or never", 3 },
	{ "quiet", 'q', NULL, 0, "no report, and without --json no record", 3 },
	{ "fail-on", KEY_FAIL_ON, "WHAT", 0,
	  "exit with 1 if a law is broken (broken: without COMMAND the default), or if more than PERCENT "
	  "of what was to be sent without a copy was copied (needless=PERCENT); may be repeated", 3 },
	{ "break", KEY_BREAK, "WHAT", 0,
	  "inject a fault, for tests; one of" WATCH_FAULTS(FAULT_LISTED)
	  " (no program runs when a socket ends or begins, a packet leaves, a socket moves to CLOSE)", 3 },
	{ "help", 'h', NULL, 0, "show this text", -1 },
	{ "version", 'V', NULL, 0, "show the release and the commit that was built", -1 },
	{},
};

/* The long name of an option. */
static const char *option_of(int key)
{
	const struct argp_option *o = option_table;

	while (o->key != key)
		o++;
	return o->name;
}

/* COMMAND, a network namespace and all sockets are subjects of their own; ports may narrow the last two. */
static bool go_together(unsigned int kinds)
{
	const unsigned int alone = 1u << WATCH_NETNS | 1u << WATCH_ALL;
	unsigned int others = kinds & ~(1u << WATCH_PORTS);

	return !(kinds & alone) || !(others & (others - 1));
}

static void choose(struct watch_options *o, enum watch_by by, const char *option, const char *value)
{
	struct watch_subject *s = &o->subject;
	char message[80], first[WATCH_ASKED_BYTES];
	size_t used;

	if (o->whom && (!go_together(s->kinds | 1u << by) || !strncmp(option, "-- ", 3))) {
		snprintf(message, sizeof(message), "%s and %s exclude each other", o->whom, option);
		options_fail("%s: say once whom to watch", message);
	}
	if (!o->whom) {
		snprintf(o->asked, sizeof(o->asked), "%s", value);
	} else {
		if (o->whom_count == 1) {
			strcpy(first, o->asked);
			snprintf(o->asked, sizeof(o->asked), "%s %.900s", o->whom, first);
		}
		used = strlen(o->asked);
		snprintf(o->asked + used, sizeof(o->asked) - used, " %s %s", option, value);
	}
	o->whom = o->whom ?: option;
	o->whom_count++;
	s->by = s->kinds ? by < s->by ? by : s->by : by;
	s->kinds |= 1u << by;
}

static void read_pids(struct watch_subject *s, const char *value)
{
	char *copy = strdup(value), *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		pid_t pid = options_plain(word, 1, PID_MOST, "-p");
		int at = 0;

		while (at < s->pid_count && s->pids[at] != pid)
			at++;
		if (at == WATCH_PIDS_MAX)
			options_fail("%s", "-p takes fewer processes: use --cgroup or --comm");
		s->pids[at] = pid;
		s->pid_count += at == s->pid_count;
	}
	free(copy);
}

/* N, or N-M. */
static void add_ports(struct subject_names *names, char *word)
{
	char *dash = strchr(word, '-');
	uint64_t from, to;

	if (dash)
		*dash = '\0';
	from = options_plain(word, 1, UINT16_MAX, "--port");
	to = dash ? options_plain(dash + 1, 1, UINT16_MAX, "--port") : from;
	if (to < from)
		options_fail("--port '%s' is above the last port of its range: give the lower one first", word);
	if (names->port_count == SUBJECT_PORTS)
		options_fail("%s", "--port takes fewer ports: give a range, or use --netns or --all");
	names->ports[names->port_count].from = from;
	names->ports[names->port_count++].to = to;
}

static void read_ports(struct subject_names *names, const char *value)
{
	char *copy = strdup(value), *rest = copy, *word;

	while ((word = strsep(&rest, ",")))
		add_ports(names, word);
	free(copy);
}

/* Two * in a row are one: the programs expect it. */
static void read_comm(struct subject_names *names, const char *option, const char *value)
{
	char *name = names->comms[names->comm_count];
	size_t used = 0;

	if (!*value)
		options_fail("%s names nothing: give a name as ps -o comm shows it", option);
	if (strlen(value) >= WATCH_TASK_COMM)
		options_fail("--comm '%s' is longer than 15 bytes, and the kernel keeps no more: give the "
			     "first 15", value);
	if (names->comm_count == SUBJECT_COMMS)
		options_fail("%s takes 16 names: give a glob, or --cgroup", option);
	for (; *value; value++)
		if (*value != '*' || !used || name[used - 1] != '*')
			name[used++] = *value;
	names->comm_count++;
}

static void read_cgroup(struct watch_folders *folders, const char *option, const char *value)
{
	if (!*value)
		options_fail("%s names nothing: give a path such as /system.slice/nginx.service", option);
	if (strlen(value) >= WATCH_PATH_BYTES)
		options_fail("--cgroup '%s' is too long a path", value);
	if (folders->count == SUBJECT_CGROUPS)
		options_fail("%s takes 64 paths: name what lies above them", option);
	strcpy(folders->path[folders->count++], value);
}

/* KIND=NAME; a name alone is that of a process. */
static void read_excluded(struct watch_subject *s, const char *value)
{
	const char *name = strchr(value, '=');
	int bytes = name ? name - value : 0;

	if (!name || !strncmp(value, "comm=", 5))
		read_comm(&s->left_out, "--exclude", name ? name + 1 : value);
	else if (bytes == 6 && !strncmp(value, "cgroup", bytes))
		read_cgroup(&s->folders_left_out, "--exclude", name + 1);
	else if (bytes == 4 && !strncmp(value, "port", bytes))
		read_ports(&s->left_out, name + 1);
	else if ((bytes == 4 && !strncmp(value, "unit", bytes)) || (bytes == 9 && !strncmp(value, "container", bytes)))
		options_fail("--exclude '%s' is found by copyscope: start the watch by tools/copyscope watch", value);
	else
		options_fail("--exclude '%s' must be a name, or comm=, unit=, container=, cgroup= or port= before it", value);
}

static error_t parse_whom(int key, char *arg, struct watch_options *o)
{
	struct watch_subject *s = &o->subject;

	switch (key) {
	case 'p':
		choose(o, WATCH_PIDS, "-p", arg);
		if (*arg && !strpbrk(arg, "0123456789"))
			options_fail("-p '%s' is no number of a process: did you mean --comm?", arg);
		read_pids(s, arg);
		return 0;
	case KEY_COMM:
		choose(o, WATCH_COMM, "--comm", arg);
		read_comm(&s->named, "--comm", arg);
		return 0;
	case KEY_CGROUP:
		choose(o, WATCH_CGROUP, "--cgroup", arg);
		read_cgroup(&s->folders, "--cgroup", arg);
		return 0;
	case KEY_NETNS:
		if (s->kinds & 1u << WATCH_NETNS)
			options_fail("%s", "--netns takes one process: --all has every namespace");
		choose(o, WATCH_NETNS, "--netns", arg);
		s->pids[0] = options_plain(arg, 1, PID_MOST, "--netns");
		s->pid_count = 1;
		return 0;
	case KEY_PORT:
		choose(o, WATCH_PORTS, "--port", arg);
		read_ports(&s->named, arg);
		return 0;
	case KEY_ALL:
		choose(o, WATCH_ALL, "--all", "");
		return 0;
	case KEY_EXCLUDE:
		read_excluded(s, arg);
		return 0;
	case KEY_CHILDLESS:
		s->childless = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state);

static const struct argp argp = {
	option_table, parse_option,
	"NAME\n-p PID[,PID...] --comm NAME --unit NAME --container NAME --cgroup PATH --port N[-M][,N...] --exclude NAME\n"
	"--netns PID | --all\n"
	"-- COMMAND [ARG...]",
	"Watches the TCP and UDP sockets of programs that run, or of COMMAND from its first system call on, and "
	"shows where their payload was copied, sent by reference or spliced, why, and who paid.\v"
	"NAME alone is the unit of that name, else the container, else every process called so.\n"
	"Needs root, or CAP_BPF and CAP_PERFMON for own processes. COMMAND keeps stdin, stdout and its "
	"exit status; the report then goes to stderr.\n"
	"Keys of the live view: c copied, t sent, i received, a avoidable, n name: sort; v p s g r l: rows are "
	"services, processes, sockets, cgroups, remote peers, local ports; space pauses, q ends.\n"
	"Exit: that of COMMAND; else 0 all laws that can be tested balance, 1 a law broke or --fail-on "
	"says so, 2 bad input, 3 the system refuses.", NULL, NULL, NULL };

static void parse_interval(struct watch_options *o, const char *arg)
{
	o->interval = options_seconds(arg, WATCH_SECONDS_MAX, "--interval");
	if (o->interval < INTERVAL_LEAST)
		options_fail("--interval '%s' is too short: 0.1 is the least", arg);
}

/* broken, or needless=PERCENT; the last PERCENT counts. */
static void parse_fail_on(struct watch_options *o, const char *arg)
{
	static const char needless[] = "needless=";

	o->fail_on = true;
	if (!strcmp(arg, "broken"))
		return;
	if (strncmp(arg, needless, strlen(needless)))
		options_fail("--fail-on '%s' must be broken or needless=PERCENT", arg);
	if (decimal_parse(arg + strlen(needless), &o->needless_most) || o->needless_most > 100)
		options_fail("--fail-on '%s' must give a percentage from 0 to 100", arg);
	o->fail_on_needless = true;
}

/* A word without an option before it: the number of a process, a port, or a name. */
static void __attribute__((noreturn)) refuse_word(const char *word)
{
	if (*word && !word[strspn(word, "0123456789")])
		options_fail("'%s' is no option: did you mean -p before it, or --port?", word);
	if (*word == ':')
		options_fail("'%s' is no option: did you mean --port N?", word);
	options_fail("'%s' is no option: --comm before it watches a program of that name, -- before it starts it",
		     word);
}

/* Words of other tools; else the nearest option. */
static void __attribute__((noreturn)) refuse_option(const char *word)
{
	static const char *const names[] = { "--name", "--process", "--program", "--proc", "--service", NULL };

	for (int i = 0; names[i]; i++)
		if (!strncmp(word, names[i], strlen(names[i])) && strchr("=", word[strlen(names[i])]))
			options_fail("'%s' is no option: did you mean --comm?", word);
	options_mistyped(word, (const struct argp_option *const[]){ option_table, NULL });
}

/* Of the static file that is its own command; else as whoever starts it is called. */
static const char *called(void)
{
	return strcmp(program_invocation_short_name, "copyscope-collect") ? "copyscope watch" : "copyscope-collect";
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct watch_options *o = state->input;

	switch (key) {
	case KEY_AS_ROOT:
		o->as_root = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case KEY_SECONDS:
		o->seconds = options_seconds(arg, WATCH_SECONDS_MAX, "--seconds");
		break;
	case KEY_INTERVAL:
		parse_interval(o, arg);
		break;
	case KEY_BY:
		if (!strcmp(arg, "thread"))
			options_fail("%s", "--by thread: threads share sockets, so that no bytes are one thread's; --cpu tells their CPU time");
		o->rows = options_one_of(watch_rows_names, arg, "--by '%s'");
		break;
	case KEY_SORT:
		o->order = options_one_of(watch_order_names, arg, "--sort '%s'");
		break;
	case KEY_TOP:
		o->top = options_plain(arg, 1, WATCH_ROWS_MAX, "--top");
		o->top_asked = true;
		break;
	case KEY_DETAIL:
		o->details = true;
		break;
	case KEY_CPU:
		o->cpu_hz = arg ? options_plain(arg, 1, CPU_HZ_MOST, "--cpu") : CPU_HZ;
		break;
	case KEY_SIZES:
		o->sizes = true;
		break;
	case KEY_TABLE:
		o->table = true;
		break;
	case KEY_FOLD_LINES:
		o->fold_lines = true;
		break;
	case KEY_BOOKS:
		o->books = options_one_of(books_names, arg, "--books '%s'");
		o->books_asked = true;
		break;
	case KEY_STACKS:
		o->stacks = true;
		o->stack_every = arg ? options_plain(arg, 1, STACK_KIB_MOST, "--stacks") << 10 : 0;
		break;
	case KEY_BACKEND:
		o->backend = options_one_of(backend_names, arg, "--backend '%s'");
		break;
	case KEY_BREAK:
		o->fault_inject = options_one_of(fault_names, arg, "--break '%s'");
		break;
	case KEY_JSON:
		o->json = options_file(arg, "--json");
		break;
	case KEY_LINES:
		o->lines = options_file(arg, "--json-lines");
		break;
	case KEY_NO_KEEP:
		o->no_keep = true;
		break;
	case KEY_CSV:
	case KEY_PPROF:
	case KEY_LAWS:
	case KEY_EXACT:
	case KEY_COLOR:
	case KEY_FOLDED:
	case KEY_HTML:
	case KEY_HOST:
	case KEY_HOSTS:
	case KEY_SSH:
	case KEY_ROTATE:
	case KEY_METRICS:
	case KEY_SERVE:
	case KEY_STATE:
	case KEY_SERVICES:
	case KEY_UNIT:
	case KEY_CONTAINER:
		options_fail("--%s is told by copyscope: start the watch by tools/copyscope watch", option_of(key));
	case KEY_FAIL_ON:
		parse_fail_on(o, arg);
		break;
	case 'V':
		release_print();
	case 'h':
		argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, (char *)called());
		exit(0);
	case ARGP_KEY_ARG:
		refuse_word(arg);
	case ARGP_KEY_ERROR:
		refuse_option(state->argv[state->next - 1]);
	default:
		return parse_whom(key, arg, o);
	}
	return 0;
}

/* Where COMMAND's -- stands; @argc if there is none. */
static int dashes(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--"))
		i++;
	return i;
}

static bool is_stdout(const char *file)
{
	return file && !strcmp(file, "-");
}

bool watch_prints_records(const struct watch_options *o)
{
	return is_stdout(o->json) || is_stdout(o->lines);
}

static void check(const struct watch_options *o)
{
	if (!o->whom)
		options_fail("%s", "whom? Give a NAME, -p PID, --comm NAME, --unit NAME, --container NAME, --cgroup PATH, "
			     "--netns PID, --port N, --all, or -- COMMAND");
	if (o->subject.childless && (!(o->subject.kinds & 1u << WATCH_PIDS) || o->command))
		options_fail("%s", "--no-children goes with -p");
	if (o->as_root && !o->command)
		options_fail("%s", "--as-root goes with -- COMMAND");
	if (o->command && watch_prints_records(o))
		options_fail("%s would mix records with what COMMAND prints: name a file",
			     is_stdout(o->json) ? "--json -" : "--json-lines -");
	if (is_stdout(o->json) && is_stdout(o->lines))
		options_fail("%s", "--json - and --json-lines - would be mixed: name a file for one");
	if (o->table && watch_prints_records(o))
		options_fail("--table would be mixed with %s: name a file",
			     is_stdout(o->json) ? "--json -" : "--json-lines -");
	if (o->table && (o->quiet || o->interval))
		options_fail("--table is printed at the end, once: leave out %s", o->quiet ? "--quiet" : "--interval");
	if (o->stacks && o->books_asked && o->books != WATCH_CALLS)
		options_fail("%s", "--stacks are those of calls, which --books sequence does not look at: leave out one");
	if (o->lines && !o->interval)
		options_fail("%s", "--json-lines writes a line for each interval: give --interval S");
	if (o->seconds && o->interval > o->seconds)
		options_fail("%s", "--interval is longer than --seconds");
	if (o->sizes && o->books_asked && o->books != WATCH_CALLS)
		options_fail("%s", "--sizes counts each call, and --books sequence does not: leave one of them out");
	if (o->quiet && !o->json && !o->lines && !o->fail_on && !o->command)
		options_fail("%s", "--quiet without --json leaves nothing to see: give --json, --html or --metrics FILE");
}

void watch_options_parse(int argc, char **argv, struct watch_options *o)
{
	int end = dashes(argc, argv);

	*o = (struct watch_options){ .rows = ROWS_SERVICES, .top = WATCH_TOP };
	options_of(called());
	/* argp's own complaints and help take two lines and name the program's whole path. */
	if (argp_parse(&argp, end, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, o))
		exit(2);
	if (end < argc) {
		choose(o, WATCH_PIDS, "-- COMMAND", argv[end + 1]);
		o->command = argv + end + 1;
		if (!*o->command || !**o->command)
			options_fail("%s", "-- names no command: give one, as in -- curl URL");
	}
	check(o);
	if (o->sizes || o->stacks)
		o->books = WATCH_CALLS;
}
