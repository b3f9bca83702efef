// SPDX-License-Identifier: GPL-2.0
/* Parses the command line of trace_run: bad input ends here, before anything is touched. */
#include "userspace/run/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/option_values.h"
#include "userspace/common/system/cpu_list.h"
#include "userspace/counters/model.h"
#include "userspace/record/plan.h"
#include "userspace/record/record.h"
#include "userspace/run/options_parts.h"
#include "userspace/tables/behaviours.h"
#include "userspace/tables/blocks.h"
#include "userspace/tables/paths.h"
#include "userspace/tables/receivers.h"
#include "userspace/tables/release.h"
#include "userspace/tables/variants.h"

/* Lists what a run can be made of and what its report shows, a line each. */

static void print_line(const char *name, const char *meaning)
{
	printf("  %-20s %s\n", name, meaning);
}

static void print_rows(const char *title, const struct table_row *rows, int count)
{
	printf("%s\n", title);
	for (int i = 0; i < count; i++)
		print_line(rows[i].name, rows[i].meaning);
}

static void options_list(void)
{
	print_rows("VARIANT, how a message is sent", variant_rows, VARIANT_COUNT);
	print_rows("\n--path, what lies between the sockets", path_rows, PATH_COUNT);
	print_rows("\n--behaviours, what published programs do otherwise", behaviour_rows, BEHAVIOUR_COUNT);
	printf("\nsites of the report, and what became of bytes there\n");
	for (enum site s = 0; s < SITE_COUNT; s++)
		print_line(site_name(s), site_meaning(s));
	/* tools/trace_run adds those of guests. */
	printf("\n--kernel, which one it runs on\n");
	print_line("host", "this kernel (default)");
}

enum { KEY_PATTERN = OPTIONS_KEY_MAIN, KEY_RECEIVER, KEY_MESSAGES, KEY_SECONDS, KEY_BACKEND,
       KEY_JSON, KEY_BREAK, KEY_NO_PROBES, KEY_KERNEL, KEY_MODULES, KEY_READERS, KEY_SENDERS, KEY_LISTENERS, KEY_CPUS, KEY_MEMLOCK,
       KEY_OPTMEM, KEY_ARCH, KEY_COST, KEY_VERIFY, KEY_BEHAVIOURS, KEY_PASS, KEY_COUNTERS,
       KEY_LAWS, KEY_EXACT, KEY_COLOR, KEY_LIST, KEY_RUNS,
       KEY_ALTERNATE, KEY_BLOCK, KEY_ANSWER_EVERY, KEY_STARTS, KEY_EVERY, KEY_PIECE };

/* Enough for one notification: an skb without payload, as sock_omalloc charges it, and some
 * more. */
enum { OPTMEM_MIN = 2048, DEFAULT_BLOCK_MS = 3 };

static const char *const backends[] = {
	[BACKEND_AUTO] = "auto", [BACKEND_TRAMPOLINE] = "trampoline",
	[BACKEND_TRACEPOINT] = "tracepoint", NULL
};

static const char *const colour_modes[] = { "auto", "always", "never", NULL };

#define NAME_WORD(symbol, name, traits, meaning) " " name
#define VARIANT_WORD(symbol, name, ...) " " name

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Workload:", 1 },
	{ "pattern", KEY_PATTERN, "P", 0, "stream or rr: request, then reply (default stream)", 1 },
	{ "receiver", KEY_RECEIVER, "R", 0, "one of: " RECEIVER_NAMES "(default: recv, or what the variant needs)", 1 },
	{ "readers", KEY_READERS, "N", 0,
	  "instead: N threads share each socket and recv() whatever comes, unchecked", 1 },
	{ "senders", KEY_SENDERS, "N", 0, "N threads send on each socket together, unchecked", 1 },
	{ "listeners", KEY_LISTENERS, "N", 0,
	  "N sockets listen on the server's port (SO_REUSEPORT), at most 16", 1 },
	{ "cpus", KEY_CPUS, "LIST[/LIST]", 0,
	  "keep thread N of each end on the Nth processor of LIST, in turn, as 0,2-3/1 of sender and receiver; P or E: such "
	  "cores", 1 },
	{ "behaviours", KEY_BEHAVIOURS, "LIST", 0,
	  "what published programs do otherwise: names of the list below, with commas", 1 },
	{ "piece", KEY_PIECE, "BYTES", 0,
	  "by UDP: payload of each datagram (default: what the route's MTU carries); of A1-file: what each read() and "
	  "send() moves (default: a message)", 1 },
	{ "messages", KEY_MESSAGES, "N", 0, "stop after N messages in all; k and M multiply", 1 },
	{ "seconds", KEY_SECONDS, "S", 0, "stop after S seconds (default 2)", 1 },
	{ "alternate", KEY_ALTERNATE, "LIST", 0,
	  "in place of VARIANT: two to 8, with commas, take turns in each connection, and are compared; VARIANT:RECEIVER is one "
	  "with a receiver of its own", 1 },
	{ "block", KEY_BLOCK, "MS", 0, "how long an end works in a turn, about (default 2 and 6, from 128 KiB on 20 and 40, each in two starts)", 1 },
	{ "answer-every", KEY_ANSWER_EVERY, "N", 0,
	  "of --alternate: the sender waits for an answer behind every N messages of a connection (default: of a turn alone)", 1 },
	{ "starts", KEY_STARTS, "N", 0, "how often the two ends start, for S seconds each (default 6 of 1 s, up to 30 until it is decided)", 1 },
	{ "every", KEY_EVERY, "S", 0, "of --alternate: seconds from one start to the next, at least (default 12)", 1 },
	{ "memlock", KEY_MEMLOCK, "BYTES", 0,
	  "RLIMIT_MEMLOCK of both ends: how much may be in flight by reference", 1 },
	{ "optmem", KEY_OPTMEM, "BYTES", 0,
	  "net.core.optmem_max of both ends: how many notifications may be outstanding", 1 },
	{ NULL, 0, NULL, 0, "Probes:", 4 },
	{ "backend", KEY_BACKEND, "B", 0, "auto, trampoline or tracepoint (default auto)", 4 },
	{ "kernel", KEY_KERNEL, "RELEASE", 0,
	  "host, or run in a throwaway guest with that Debian kernel (--list has them) or image", 4 },
	{ "modules", KEY_MODULES, "DIR", 0, "the modules of that image", 4 },
	{ "arch", KEY_ARCH, "NAME", 0,
	  "processor of that guest: amd64, or arm64, which has hardware counters", 4 },
	{ "counters", KEY_COUNTERS, "WHICH", 0,
	  "model[:NAME or FILE]: with --kernel, instructions and misses of modelled caches, too (a file of "
	  "the folder caches)", 4 },
	{ "cost", KEY_COST, NULL, 0, "measure time and processor events inside each copying call", 4 },
	{ "pass", KEY_PASS, "WHICH", 0,
	  "timed: without probes; counted: with them; both, in this order, 0.8 and 0.2 of the seconds, or "
	  "each all messages (default; path peer: counted)", 4 },
	{ "no-probes", KEY_NO_PROBES, NULL, 0, "the same as --pass timed", 4 },
	{ "verify", KEY_VERIFY, NULL, 0,
	  "without probes, too: fill each message anew, and check every byte that arrives", 4 },
	{ "break", KEY_BREAK, "WHAT", 0,
	  "inject a fault, for tests; one of" RUN_FAULTS(FAULT_LISTED)
	  " count-fin detach:SITE bounds:SECONDS (of each wait for an end or the other host)", 4 },
	{ NULL, 0, NULL, 0, "Output:", 5 },
	{ "json", KEY_JSON, "FILE", 0,
	  "write the record there, - for stdout (default: in COPYSCOPE_RUNS, or results/runs/)", 5 },
	{ "laws", KEY_LAWS, NULL, 0, "a row for each law that was tested, with both sides", 5 },
	{ "exact", KEY_EXACT, NULL, 0, "every digit of each number, and a row for each site", 5 },
	{ "color", KEY_COLOR, "WHEN", 0,
	  "auto, always or never (default auto: on a terminal, unless NO_COLOR is set)", 5 },
	{ "quiet", 'q', NULL, 0, "no report", 5 },
	{ "runs", KEY_RUNS, "DIR", 0,
	  "first of all words: make many runs with hooks that stay attached. Each line of stdin is NAME and the words of a "
	  "run; NAME.json, .out, .err and .status go to DIR", 5 },
	{ "list", KEY_LIST, NULL, 0, "show variants, paths, sites and kernels, a line each", -1 },
	{ "help", 'h', NULL, 0, "show this text", -1 },
	{ "version", 'V', NULL, 0, "show the release and the commit that was built", -1 },
	{},
};

/* "LIST", or one for each end. */
static void parse_cpus(const char *text, struct workload_plan *plan)
{
	const char *slash = strchr(text, '/');
	int first = slash ? slash - text : (int)strlen(text);
	struct cpu_list list;

	snprintf(plan->cpus[END_SENDER], sizeof(plan->cpus[END_SENDER]), "%.*s", first, text);
	snprintf(plan->cpus[END_RECEIVER], sizeof(plan->cpus[END_RECEIVER]), "%s", slash ? slash + 1 : text);
	for (int e = 0; e < END_COUNT; e++) {
		int err = strlen(text) < sizeof(plan->cpus[e]) ? cpu_list_parse(plan->cpus[e], &list) : -EINVAL;

		if (err)
			options_fail("--cpus: %s", cpu_list_fault(err));
	}
}

static void parse_break(const char *value, struct options *o)
{
	static const char *const words[] = { RUN_FAULTS(FAULT_WORD) "count-fin", "detach:SITE", "bounds:SECONDS", NULL };
	int fault;

	if (!strncmp(value, "detach:", 7) && value[7]) {
		o->detach = value + 7;
	} else if (!strncmp(value, "bounds:", 7)) {
		o->bound_ms = options_seconds(value + 7, PLAN_SECONDS_MAX, "SECONDS") * 1000;
	} else {
		fault = FAULT_LOSE_UPDATE + options_one_of(words, value, "--break '%s'");
		if (fault < FAULT_COUNT)
			o->fault_inject = fault;
		else
			o->plan.count_fin = true;
	}
}

static void parse_pass(const char *value, struct options *o)
{
	static const char *const passes[] = { "timed", "counted", "both", NULL };
	char pass = *passes[options_one_of(passes, value, "unknown pass '%s'")];

	if (o->pass_given && (o->no_probes != (pass == 't') || o->both != (pass == 'b')))
		options_fail("--pass %s: another pass is asked for, too: give one", value);
	o->pass_given = true;
	o->no_probes = pass == 't';
	o->both = pass == 'b';
}

/* Returns a variant's name as the table has it, and in @receiver who receives it; "": who receives the others. */
static const char *parse_way(char *name, const char **receiver)
{
	char *with = strchr(name, ':');
	const char *meant, *fault;

	*receiver = with ? with + 1 : "";
	if (with)
		*with = '\0';
	meant = variant_meant(name);
	if (!meant)
		options_fail("--alternate: unknown VARIANT '%s'; --list has them", name);
	if (with && receiver_number(*receiver) < 0)
		options_fail("--alternate: %s: unknown receiver; there are " RECEIVER_NAMES, *receiver);
	fault = with ? receiver_turn_fault(*receiver, variant_traits(meant)) : NULL;
	if (fault)
		options_fail("--alternate, the receiver of a way: %s", fault);
	return meant;
}

/* Their names as the table has them. */
static void parse_alternate(const char *value, struct workload_plan *plan)
{
	unsigned int traits[WAYS_MOST];
	char list[sizeof(plan->alternate)], *rest = list;
	struct way_names first;
	size_t used = 0;
	int count = 0;

	snprintf(list, sizeof(list), "%s", value);
	for (char *name; (name = strsep(&rest, ","));) {
		const char *receiver, *meant = parse_way(name, &receiver);

		if (count == WAYS_MOST)
			options_fail("--alternate %s: at most 8 variants take turns", value);
		traits[count++] = variant_traits(meant);
		used += snprintf(plan->alternate + used, sizeof(plan->alternate) - used, "%s%s%s%s", used ? "," : "", meant,
				 *receiver ? ":" : "", receiver);
	}
	if (count < 2)
		options_fail("--alternate %s: name two variants or more, with commas", value);
	if (ways_fault(traits, count))
		options_fail("--alternate: %s", ways_fault(traits, count));
	plan_way(plan, 0, &first);
	strcpy(plan->variant, first.variant);
}

static void parse_positional(struct options *o, int number, const char *value)
{
	switch (number) {
	case 0:
		if (!variant_meant(value))
			options_fail("unknown VARIANT '%s'; it must be one of" VARIANTS(VARIANT_WORD), value);
		snprintf(o->plan.variant, sizeof(o->plan.variant), "%s", variant_meant(value));
		break;
	case 1:
		o->plan.bytes = options_whole(value, PLAN_BYTES_MIN, PLAN_BYTES_MAX, "BYTES");
		break;
	case 2:
		o->plan.threads = options_whole(value, 1, PLAN_THREADS_MAX, "THREADS");
		break;
	default:
		options_fail("one word too many: '%s'", value);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state);

static const struct argp_child children[] = { { &options_path_argp, 0, "Path:", 2 },
					      { &options_peer_argp, 0, "Two hosts:", 3 }, {} };

#define MEANING_LINE(symbol, name, traits, meaning) "  " name ": " meaning "\n"
#define VARIANT_LINE(symbol, name, call, traits, meaning) "  " name ": " meaning "\n"
#define SITE_LINE(name, traits, who, meaning) "  " #name ": " meaning "\n"

static const struct argp argp = {
	option_table, parse_option, "VARIANT BYTES THREADS",
	"Runs VARIANT over THREADS connections with messages of BYTES and shows where every byte was "
	"copied.\v"
	"VARIANT is how a message of eight fields is sent:\n" VARIANTS(VARIANT_LINE)
	"KIND is what lies between the sockets:\n" PATHS(MEANING_LINE)
	"LIST is of behaviours that are off unless named:\n" BEHAVIOURS(MEANING_LINE)
	"The report shows what became of bytes at these sites:\n" SITES(SITE_LINE)
	"BYTES is 8 to 64M, THREADS 1 to 1024: connections, each with a thread at either end.\n"
	"Exit: 0 all testable laws balance; 1 a law broke or the run failed; 2 bad input; "
	"3 the system refuses; 4 no verdict, the probes missed events; 130 Ctrl-C ended it.", children, NULL, NULL };

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->request;
		state->child_inputs[1] = &o->request;
		break;
	case KEY_PATTERN:
		snprintf(o->plan.pattern, sizeof(o->plan.pattern), "%s",
			 plan_patterns[options_one_of(plan_patterns, arg, "unknown pattern '%s'")]);
		break;
	case KEY_RECEIVER:
		snprintf(o->plan.receiver, sizeof(o->plan.receiver), "%s",
			 plan_receivers[options_one_of(plan_receivers, arg, "unknown receiver '%s'")]);
		o->receiver_given = true;
		break;
	case KEY_READERS:
		o->plan.readers = options_whole(arg, 1, PLAN_THREADS_MAX, "--readers");
		break;
	case KEY_SENDERS:
		o->plan.senders = options_whole(arg, 1, PLAN_THREADS_MAX, "--senders");
		break;
	case KEY_LISTENERS:
		o->plan.listeners = options_whole(arg, 1, PLAN_LISTENERS_MAX, "--listeners");
		break;
	case KEY_CPUS:
		parse_cpus(arg, &o->plan);
		break;
	case KEY_BEHAVIOURS:
		if (behaviours_read(arg, &o->plan.behaviours))
			options_fail("--behaviours '%s' names one that there is not; there are"
				     BEHAVIOURS(NAME_WORD), arg);
		break;
	case KEY_MEMLOCK:
		o->plan.memlock_bytes = options_whole(arg, 1, 1ull << 40, "--memlock");
		break;
	case KEY_OPTMEM:
		o->plan.optmem_bytes = options_whole(arg, OPTMEM_MIN, INT_MAX, "--optmem");
		break;
	case KEY_MESSAGES:
		o->plan.messages = options_whole(arg, 1, PLAN_MESSAGES_MAX, "--messages");
		break;
	case KEY_SECONDS:
		o->plan.seconds = options_seconds(arg, PLAN_SECONDS_MAX, "SECONDS");
		o->seconds_given = true;
		break;
	case KEY_ALTERNATE:
		parse_alternate(arg, &o->plan);
		break;
	case KEY_BLOCK:
		o->plan.block_ms = options_whole(arg, 1, BLOCK_MS_MOST, "--block");
		break;
	case KEY_ANSWER_EVERY:
		o->plan.answer_every = options_whole(arg, 1, PLAN_MESSAGES_MAX, "--answer-every");
		break;
	case KEY_PIECE:
		o->plan.piece_bytes = options_whole(arg, 1, PLAN_BYTES_MAX, "--piece");
		break;
	case KEY_EVERY:
		options_fail("--every %s goes with --alternate of tools/trace_run", arg);
	case KEY_STARTS:
		options_fail("--starts %s goes with --alternate of tools/trace_run", arg);
	case KEY_BACKEND:
		o->backend = options_one_of(backends, arg, "unknown backend '%s'");
		break;
	case KEY_KERNEL:
		if (strcmp(arg, "host"))
			options_fail("--kernel %s needs the launcher: type tools/trace_run", arg);
		break;
	case KEY_MODULES:
		options_fail("--modules %s goes with --kernel IMAGE of tools/trace_run", arg);
		break;
	case KEY_ARCH:
		options_fail("--arch %s needs a guest: type tools/trace_run, and --kernel 6.12", arg);
		break;
	case KEY_COUNTERS:
		if (strcmp(arg, "model") || !model_offered())
			options_fail("--counters %s needs the launcher and a guest: type tools/trace_run, and "
				     "--kernel 6.12", arg);
		o->plan.modelled = true;
		break;
	case KEY_COST:
		o->cost = true;
		break;
	case KEY_PASS:
		parse_pass(arg, o);
		break;
	case KEY_NO_PROBES:
		parse_pass("timed", o);
		break;
	case KEY_VERIFY:
		o->verify = true;
		break;
	case KEY_BREAK:
		parse_break(arg, o);
		break;
	case KEY_JSON:
		o->json = options_file(arg, "--json");
		break;
	case KEY_LAWS:
	case KEY_EXACT:
		/* Of the report, which who started this prints. */
		break;
	case KEY_COLOR:
		options_one_of(colour_modes, arg, "unknown colour '%s'");
		break;
	case 'q':
		o->quiet = true;
		break;
	case ARGP_KEY_ARG:
		parse_positional(o, state->arg_num + (*o->plan.alternate != '\0'), arg);
		break;
	case ARGP_KEY_END:
		if (*o->plan.alternate && state->arg_num < 2)
			options_fail("%s", "two words are needed with --alternate: BYTES THREADS, as in 65536 1");
		if (!*o->plan.alternate && state->arg_num < 3 && !o->request.partner.connection)
			options_fail("%s", "three words are needed: VARIANT BYTES THREADS, as in A3 65536 4");
		break;
	case KEY_RUNS:
		options_fail("--runs %s comes first: trace_run --runs DIR [words that all runs have]", arg);
	case KEY_LIST:
		options_list();
		exit(0);
	case 'V':
		release_print();
	case 'h':
		argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, "trace_run");
		exit(0);
	case ARGP_KEY_ERROR:
		options_mistyped(state->argv[state->next - 1],
				 (const struct argp_option *const[]){ option_table, options_path_argp.options,
								      options_peer_argp.options, NULL });
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The kernel charges a send its pages and two more, which it might touch
 * (mm_account_pinned_pages). */
static void check_limits(const struct workload_plan *plan, const char *path)
{
	uint64_t page = sysconf(_SC_PAGESIZE), least = (plan->bytes / page + 2) * page;
	char message[160];

	if (!plan->memlock_bytes && !plan->optmem_bytes)
		return;
	if (!variant_has(plan->variant, VARIANT_SO_ZEROCOPY) && !*plan->alternate)
		options_fail("--memlock and --optmem limit sends with SO_ZEROCOPY, and %s makes none: use A3",
			     plan->variant);
	if (path_has(path, PATH_TWO_HOSTS))
		options_fail("%s", "--memlock and --optmem are for both ends, and one of path peer's is "
			     "elsewhere: set the limits by hand");
	if (!plan->memlock_bytes || plan->memlock_bytes >= least)
		return;
	snprintf(message, sizeof(message), "--memlock %llu is too little: one send of %llu bytes needs "
		 "%llu",
		 (unsigned long long)plan->memlock_bytes, (unsigned long long)plan->bytes,
		 (unsigned long long)least);
	options_fail("%s", message);
}

/* Where none is named, it is the one that the variant needs. */
static void check_receiver(struct options *o)
{
	unsigned int traits = variant_traits(o->plan.variant);

	if (!o->receiver_given)
		snprintf(o->plan.receiver, sizeof(o->plan.receiver), "%s", receiver_implied(traits));
	if (receiver_fault(o->plan.receiver, traits))
		options_fail("--receiver: %s", receiver_fault(o->plan.receiver, traits));
	if (o->plan.readers && traits & VARIANT_TLS)
		options_fail("--readers have no keys, and %s sends TLS: leave them out", o->plan.variant);
}

static void check_variant(const struct workload_plan *plan)
{
	const char *fault = variant_fault(variant_traits(plan->variant), !strcmp(plan->pattern, "rr"),
					  plan->readers, plan->receiver);

	if (fault)
		options_fail("udp and udp-zc: %s", fault);
}

/* What threads of one socket, sockets of one port and processors go without. */
static void check_threads(const struct options *o)
{
	const struct workload_plan *plan = &o->plan;
	const char *fault = plan->senders ?
		senders_fault(variant_traits(plan->variant), !strcmp(plan->pattern, "rr")) : NULL;

	if (fault)
		options_fail("--senders: %s", fault);
	if ((plan->senders || plan->listeners) && *plan->alternate)
		options_fail("%s", "--senders and --listeners are of one variant: leave them out");
	if ((plan->senders || plan->listeners || *plan->cpus[END_SENDER]) && path_has(o->request.kind, PATH_TWO_HOSTS))
		options_fail("%s", "--senders, --listeners and --cpus are of one host: leave them out");
}

/* What cannot be had of variants that alternate. */
static void check_alternation(struct options *o)
{
	if (!*o->plan.alternate) {
		if (o->plan.block_ms)
			options_fail("%s", "--block is of variants that alternate: give --alternate LIST");
		if (o->plan.answer_every)
			options_fail("%s", "--answer-every is of variants that alternate: give --alternate LIST, or --pattern rr");
		return;
	}
	if (o->pass_given && !o->no_probes)
		options_fail("%s", "--alternate makes passes without probes: leave --pass out");
	if (o->plan.messages || strcmp(o->plan.pattern, "stream"))
		options_fail("%s", "--alternate takes --seconds, and --answer-every in place of --pattern rr");
	if (o->plan.answer_every && plan_sends_datagrams(&o->plan))
		options_fail("%s", "--answer-every: an answer to a datagram may be lost: leave it out");
	if (o->plan.readers || receiver_has(o->plan.receiver, RECEIVER_MULTISHOT) ||
	    o->plan.behaviours & BEHAVIOUR_BIT(client_processes))
		options_fail("%s", "--alternate needs a receiver that stops behind a message, and is one process: leave out "
			     "--readers, uring-multishot, client-processes");
	if (path_has(o->request.kind, PATH_TWO_HOSTS) || o->plan.modelled)
		options_fail("%s", "--alternate compares times on one host: use another path than peer, and no --counters");
	if (!o->plan.block_ms)
		o->plan.block_ms = DEFAULT_BLOCK_MS;
	o->no_probes = o->pass_given = true;
}

void options_parse(int argc, char **argv, struct options *o)
{
	static char *const ssh[] = { "ssh", NULL };

	*o = (struct options){ .request = { .kind = "veth", .port = 9000 } };
	o->request.partner = (struct path_partner){ .ssh = ssh, .far = "sudo -n trace_run" };
	strcpy(o->plan.pattern, "stream");
	strcpy(o->plan.receiver, "recv");
	o->plan.seconds = 2;
	options_of("trace_run");
	/* argp's own complaints and help take two lines and name the program's whole path. */
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, o))
		exit(2);
	o->tells = getenv("COPYSCOPE_TELL");
	/* Its stdout is for the near half. */
	o->quiet |= o->request.partner.connection != NULL;
	if (o->plan.messages && o->seconds_given)
		options_fail("%s", "--messages and --seconds exclude each other: give one");
	if (o->plan.readers && o->receiver_given)
		options_fail("%s", "--readers and --receiver exclude each other: give one");
	check_receiver(o);
	if (o->plan.readers && strcmp(o->plan.pattern, "stream"))
		options_fail("%s", "--readers see no messages, so they send no replies: use --pattern stream");
	if (o->plan.readers && behaviours_want_messages(o->plan.behaviours))
		options_fail("%s", "--readers see no messages: leave out client-processes and fresh-buffer");
	if (behaviours_fault(o->plan.behaviours, variant_traits(o->plan.variant)))
		options_fail("--behaviours: %s", behaviours_fault(o->plan.behaviours,
								  variant_traits(o->plan.variant)));
	if (plan_piece_fault(&o->plan))
		options_fail("--piece: %s", plan_piece_fault(&o->plan));
	check_variant(&o->plan);
	check_alternation(o);
	check_threads(o);
	if (o->plan.readers)
		strcpy(o->plan.receiver, "drain");
	if (o->plan.senders > 1 && o->verify)
		options_fail("%s", "--verify: messages of several senders may lie between each other");
	o->plan.unchecked = o->plan.senders > 1 || (o->no_probes && !o->verify);
	check_limits(&o->plan, o->request.kind);
	if (o->both && path_has(o->request.kind, PATH_TWO_HOSTS))
		options_fail("%s", "--pass both: two hosts make one pass; use --pass counted or timed");
	if (!o->pass_given)
		o->both = !path_has(o->request.kind, PATH_TWO_HOSTS);
	if (o->no_probes && (o->detach || o->fault_inject))
		options_fail("%s", "--break needs probes: use --pass counted or both");
	if (o->no_probes && o->cost)
		options_fail("%s", "--cost needs probes: use --pass counted or both");
	o->borrows = !o->both && !o->no_probes && !o->cost && !path_has(o->request.kind, PATH_TWO_HOSTS);
	/* Seconds of an emulated clock that counts instructions would take minutes. */
	if (o->plan.modelled && !o->plan.messages)
		options_fail("%s", "--counters model needs --messages N: its times mean nothing");
	if (o->plan.modelled && path_has(o->request.kind, PATH_TWO_HOSTS))
		options_fail("%s", "--counters model counts one guest: use another path than peer");
	if (o->cost && path_has(o->request.kind, PATH_TWO_HOSTS))
		options_fail("%s", "--cost: no record of two hosts holds costs; use another path");
}
