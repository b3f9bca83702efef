// SPDX-License-Identifier: GPL-2.0
/* Read the command line. */
#include "userspace/workload/settings.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/clock.h"
#include "userspace/common/printable.h"
#include "userspace/common/numbers.h"
#include "userspace/tables/release.h"
#include "userspace/tables/variants.h"
#include "userspace/workload/stream/fail.h"

/* Numbers of the command line: a bad one ends the program. */

#define SECONDS_MAX 1e6

/* A whole number from @min to @max; ends the program with EXIT_BAD_USAGE on anything else. */
static uint64_t number_parse(const char *what, const char *text, enum number_suffix suffix,
			     uint64_t min, uint64_t max)
{
	uint64_t number;
	int err = whole_parse(text, suffix, min, max, &number);

	if (err == -EINVAL)
		usage_error("%s: '%s' is not a whole number: give one from %llu to %llu%s", what,
			    printable(text), (unsigned long long)min, (unsigned long long)max,
			    suffix == NUMBER_WITH_SUFFIX ? " (k or KiB, M or MiB may follow)" : "");
	if (err)
		usage_error("%s: %s is out of range: give a number from %llu to %llu", what,
			    printable(text), (unsigned long long)min, (unsigned long long)max);
	return number;
}

/* Seconds like "2" or "0.25", above 0 and up to a million, as ns. */
static uint64_t number_parse_seconds_ns(const char *what, const char *text)
{
	double seconds;

	if (decimal_parse(text, &seconds))
		usage_error("%s: '%s' is not a number of seconds: give one like 2 or 0.5", what,
			    printable(text));
	if (seconds * NS_PER_S < 1 || seconds > SECONDS_MAX)
		usage_error("%s: %s is out of range: give more than 0 and at most %.0f", what,
			    printable(text), SECONDS_MAX);
	return seconds * NS_PER_S;
}

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT 9000
#define DEFAULT_DURATION_NS (2 * NS_PER_S)
#define DEFAULT_MAX_CLIENTS 64
#define DEFAULT_BLOCK_MS 3
#define MESSAGES_MAX (1ull << 40)
#define FD_MAX 1048576

enum option_key {
	KEY_ADDRESS = 256, KEY_PORT, KEY_PATTERN, KEY_RECEIVER, KEY_MESSAGES, KEY_SECONDS,
	KEY_CLIENTS, KEY_MAX_CLIENTS, KEY_READERS, KEY_JSON, KEY_READY_FD, KEY_GO_FD,
	KEY_PATIENCE, KEY_FROM, KEY_CHECK, KEY_COUNT_FIN,
	KEY_BEHAVIOURS, KEY_GUEST_MARKER, KEY_DATAGRAMS, KEY_PIECE,
	KEY_ALTERNATE, KEY_BLOCK, KEY_ANSWER_EVERY, KEY_IN_BLOCKS, KEY_SENDERS, KEY_LISTENERS, KEY_CPUS,
};

/* What has been read so far, before defaults. */
struct draft {
	struct settings *settings;
	const char *words[2];
	unsigned int n_words;
	const char *address;
	unsigned int port;
	bool max_clients_given;
	bool receiver_given;
};

#define SHARED_OPTIONS                                                                       \
	{ "port", KEY_PORT, "N", 0, "TCP port (default 9000; 0 on a server: any free one)", 1 }, \
	{ 0, 0, 0, 0, "How much:", 2 },                                                      \
	{ "pattern", KEY_PATTERN, "NAME", 0,                                                 \
	  "stream (server to client, default) or rr (request and reply)", 2 },               \
	{ "messages", KEY_MESSAGES, "N", 0,                                                  \
	  "stop after N messages over all connections; the server counts in stream, the client " \
	  "in rr", 2 },                                         \
	{ "seconds", KEY_SECONDS, "S", 0,                                                    \
	  "stop after S seconds (default 2 at the end that counts)", 2 },                   \
	{ "check", KEY_CHECK, "WHAT", 0,                                                     \
	  "content (default: fill each message anew, check what arrives) or none (fill memory " \
	  "once, before the first connection)", 2 },                                        \
	{ "cpus", KEY_CPUS, "LIST", 0,                                                       \
	  "keep thread N on the Nth processor of LIST, in turn: 0,2-3; P or E for such cores", 2 }, \
	{ "behaviours", KEY_BEHAVIOURS, "LIST", 0,                                           \
	  "names of the list below, with commas between them; each end obeys its own", 2 },  \
	{ 0, 0, 0, 0, "For a program that starts this one:", 4 },                            \
	{ "json", KEY_JSON, 0, 0, "print the totals as one JSON document", 4 },              \
	{ "ready-fd", KEY_READY_FD, "F", 0, "write \"ready PORT\" to this descriptor", 4 },  \
	{ "go-fd", KEY_GO_FD, "F", 0,                                                        \
	  "then wait for one byte from this descriptor before any thread or connection", 4 }, \
	{ "patience", KEY_PATIENCE, "S", 0,                                                  \
	  "fail when nothing has moved for S seconds (default: wait for ever)", 4 },         \
	{ "guest-marker", KEY_GUEST_MARKER, 0, 0,                                                            \
	  "tell the plugin of an emulator whose threads these are; see docs/COUNTERS.md", 4 }, \
	{ "count-fin", KEY_COUNT_FIN, 0, 0,                                                  \
	  "a fault for tests: count a FIN as a byte that TCP returned", 4 },                 \
	{ "help", 'h', 0, 0, "show this text", -1 },                                         \
	{ "version", 'V', 0, 0, "show the release and the commit that was built", -1 }

static const struct argp_option server_options[] = {
	{ 0, 0, 0, 0, "Where:", 1 },
	{ "listen", KEY_ADDRESS, "ADDR", 0, "IPv4 or IPv6 address (default 127.0.0.1)", 1 },
	SHARED_OPTIONS,
	{ "alternate", KEY_ALTERNATE, "LIST", 0,
	  "in place of VARIANT: two to 8 variants, with commas, take turns in each connection; with --clients", 2 },
	{ "block", KEY_BLOCK, "MS", 0, "how long an end works in a turn, about: 1 to 1000 ms (default 3)", 2 },
	{ "answer-every", KEY_ANSWER_EVERY, "N", 0,
	  "with --alternate: wait for the receiver's answer behind every N messages (default: of a turn alone)", 2 },
	{ "piece", KEY_PIECE, "BYTES", 0, "of each datagram (default: what the route's MTU carries), or of each read() and send() "
	  "of A1-file (default: a message)", 2 },
	{ 0, 0, 0, 0, "Who:", 3 },
	{ "clients", KEY_CLIENTS, "T", 0, "serve exactly T clients, then end", 3 },
	{ "max-clients", KEY_MAX_CLIENTS, "K", 0, "close one more than K at once (default 64)",
	  3 },
	{ "senders", KEY_SENDERS, "N", 0,
	  "N threads send on each socket together; with --check none at both ends", 3 },
	{ "listeners", KEY_LISTENERS, "N", 0, "N sockets listen on one port (SO_REUSEPORT), at most 16", 3 },
	{ "from", KEY_FROM, "ADDR", 0, "close connections from other addresses (default: none)", 3 },
	{ 0 },
};

static const struct argp_option client_options[] = {
	{ 0, 0, 0, 0, "Where:", 1 },
	{ "connect", KEY_ADDRESS, "ADDR", 0, "IPv4 or IPv6 address (default 127.0.0.1)", 1 },
	SHARED_OPTIONS,
	{ 0, 0, 0, 0, "How to receive:", 3 },
	{ "receiver", KEY_RECEIVER, "NAME", 0,
	  "one of: " RECEIVER_NAMES "(default recv)", 3 },
	{ "datagrams", KEY_DATAGRAMS, 0, 0, "from a server that sends by UDP (udp and the like)", 3 },
	{ "in-blocks", KEY_IN_BLOCKS, "LIST", OPTION_ARG_OPTIONAL,
	  "from a server whose variants take turns (--alternate): the receiver of each (default: one for all)", 3 },
	{ "readers", KEY_READERS, "N", 0,
	  "instead: N threads share each socket and recv() whatever comes, unchecked", 3 },
	{ 0 },
};

static enum pattern pattern_parse(const char *name)
{
	if (!strcmp(name, "stream"))
		return PATTERN_STREAM;
	if (!strcmp(name, "rr"))
		return PATTERN_RR;
	usage_error("--pattern: there is no '%s': choose stream or rr",
		    printable(name));
}

static const struct receive_method *receiver_parse(const char *name)
{
	const struct receive_method *method = receive_method_find(name);

	if (!method)
		usage_error("--receiver: there is no '%s': choose one of " RECEIVER_NAMES, printable(name));
	return method;
}

static const struct variant *variant_parse(const char *name)
{
	const struct variant *variant = variant_find(name);

	if (!variant)
		usage_error("there is no variant '%s': see workload server --help", printable(name));
	return variant;
}

static void alternate_parse(char *list, struct settings *settings)
{
	for (char *name; (name = strsep(&list, ","));) {
		if (settings->n_ways == WAYS_MOST)
			usage_error("--alternate: name at most %d variants", WAYS_MOST);
		settings->ways[settings->n_ways++] = variant_parse(name);
	}
	if (settings->n_ways < 2)
		usage_error("--alternate: name two variants or more, with commas: A1,A3");
	settings->alternates = true;
}

static void cpus_parse(const char *text, struct cpu_list *list)
{
	int err = cpu_list_parse(text, list);

	if (err)
		usage_error("--cpus %s: %s", printable(text), cpu_list_fault(err));
}

static void in_blocks_parse(char *list, struct settings *settings)
{
	settings->in_blocks = true;
	for (char *name; (name = strsep(&list, ","));) {
		if (settings->n_receivers == WAYS_MOST)
			usage_error("--in-blocks: name at most %d receivers", WAYS_MOST);
		settings->receivers[settings->n_receivers++] = receiver_parse(name);
	}
}

static bool check_parse(const char *name)
{
	if (strcmp(name, "content") && strcmp(name, "none"))
		usage_error("--check: there is no '%s': choose content or none", printable(name));
	return !strcmp(name, "content");
}

static int fd_parse(const char *what, const char *text)
{
	int fd = number_parse(what, text, NUMBER_PLAIN, 0, FD_MAX);

	if (fcntl(fd, F_GETFD) < 0)
		usage_error("%s: descriptor %d is not open: the parent must pass it", what, fd);
	return fd;
}

/* The options that are numbers or names with a range. Returns ARGP_ERR_UNKNOWN for others. */
static error_t amount_parse(int key, const char *text, struct draft *draft)
{
	struct settings *settings = draft->settings;

	switch (key) {
	case KEY_PORT:
		draft->port = number_parse("--port", text, NUMBER_PLAIN, 0, 65535);
		return 0;
	case KEY_MESSAGES:
		settings->messages = number_parse("--messages", text, NUMBER_WITH_SUFFIX, 1,
						  MESSAGES_MAX);
		return 0;
	case KEY_SECONDS:
		settings->duration_ns = number_parse_seconds_ns("--seconds", text);
		return 0;
	case KEY_PATIENCE:
		settings->patience_ns = number_parse_seconds_ns("--patience", text);
		return 0;
	case KEY_CLIENTS:
		settings->threads = number_parse("--clients", text, NUMBER_WITH_SUFFIX, 1,
						 THREADS_MAX);
		return 0;
	case KEY_MAX_CLIENTS:
		settings->max_clients = number_parse("--max-clients", text, NUMBER_WITH_SUFFIX, 1,
						     THREADS_MAX);
		draft->max_clients_given = true;
		return 0;
	case KEY_SENDERS:
		settings->senders = number_parse("--senders", text, NUMBER_WITH_SUFFIX, 1, THREADS_MAX);
		return 0;
	case KEY_PIECE:
		settings->piece_bytes = number_parse("--piece", text, NUMBER_WITH_SUFFIX, 1, BYTES_MAX);
		return 0;
	case KEY_LISTENERS:
		settings->listeners = number_parse("--listeners", text, NUMBER_PLAIN, 1, LISTENERS_MAX);
		return 0;
	case KEY_READERS:
		settings->readers = number_parse("--readers", text, NUMBER_WITH_SUFFIX, 1,
						 THREADS_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void word_keep(struct draft *draft, const char *word)
{
	if (draft->n_words == 2)
		usage_error("'%s' is one word too many: see --help", printable(word));
	draft->words[draft->n_words++] = word;
}

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct draft *draft = state->input;
	struct settings *settings = draft->settings;

	switch (key) {
	case 'V':
		release_print();
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
			  state->name);
		exit(EXIT_FINE);
	case ARGP_KEY_ERROR:
		usage_error("'%s' is no option, or lacks its value: see --help",
			    printable(state->argv[state->next - 1]));
	case ARGP_KEY_ARG:
		word_keep(draft, text);
		return 0;
	case KEY_ADDRESS:
		draft->address = text;
		return 0;
	case KEY_FROM:
		if (!endpoint_parse(text, 0, &settings->from))
			usage_error("--from: '%s' is not a numeric IPv4 or IPv6 address",
				    printable(text));
		return 0;
	case KEY_PATTERN:
		settings->pattern = pattern_parse(text);
		return 0;
	case KEY_RECEIVER:
		settings->receiver = receiver_parse(text);
		draft->receiver_given = true;
		return 0;
	case KEY_CHECK:
		settings->check_content = check_parse(text);
		return 0;
	case KEY_BEHAVIOURS:
		if (behaviours_read(text, &settings->behaviours))
			usage_error("--behaviours: '%s' names one that there is not: see --help",
				    printable(text));
		return 0;
	case KEY_JSON:
		settings->json = true;
		return 0;
	case KEY_COUNT_FIN:
		settings->count_fin = true;
		return 0;
	case KEY_DATAGRAMS:
		settings->datagrams = true;
		return 0;
	case KEY_ALTERNATE:
		alternate_parse(text, settings);
		return 0;
	case KEY_BLOCK:
		settings->block_ns = number_parse("--block", text, NUMBER_PLAIN, 1, BLOCK_MS_MOST) * NS_PER_MS;
		return 0;
	case KEY_ANSWER_EVERY:
		settings->answer_every = number_parse("--answer-every", text, NUMBER_WITH_SUFFIX, 1, MESSAGES_MAX);
		return 0;
	case KEY_IN_BLOCKS:
		in_blocks_parse(text, settings);
		return 0;
	case KEY_CPUS:
		cpus_parse(text, &settings->cpus);
		return 0;
	case KEY_GUEST_MARKER:
		settings->guest_marker = true;
		return 0;
	case KEY_READY_FD:
		settings->ready_fd = fd_parse("--ready-fd", text);
		return 0;
	case KEY_GO_FD:
		settings->go_fd = fd_parse("--go-fd", text);
		return 0;
	default:
		return amount_parse(key, text, draft);
	}
}

static void rows_print(FILE *to, const char *what, const struct table_row *rows, int count)
{
	fprintf(to, "%s:\n", what);
	for (int i = 0; i < count; i++)
		fprintf(to, "  %-20s %s\n", rows[i].name, rows[i].meaning);
}

/* What follows the options: argp asks for it by this key, and gives no input. */
static char *tables_help(int key, const char *text, bool server)
{
	char *help = NULL;
	size_t bytes;
	FILE *to;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	to = open_memstream(&help, &bytes);
	if (!to)
		return (char *)text;
	if (server)
		rows_print(to, "VARIANT is how one message of 8 fields is sent", variant_rows,
			   VARIANT_COUNT);
	rows_print(to, "Behaviours of published programs", behaviour_rows, BEHAVIOUR_COUNT);
	fclose(to);
	return help;
}

static char *server_help(int key, const char *text, void *input)
{
	return tables_help(key, text, true);
}

static char *client_help(int key, const char *text, void *input)
{
	return tables_help(key, text, false);
}

/* "\v" makes argp ask these for the text after the options. */
static const struct argp server_argp = {
	server_options, option_parse, "VARIANT BYTES",
	"Serve messages of BYTES (8 to 64M) over TCP, a thread per client.\v ", NULL,
	server_help, NULL
};

static const struct argp client_argp = {
	client_options, option_parse, "BYTES THREADS",
	"Receive messages of BYTES (8 to 64M) on THREADS connections (1 to 1024), a thread each.\v ",
	NULL, client_help, NULL
};

/* Installed, the program has a longer name. */
static void program_help(void)
{
	const char *name = printable(program_invocation_short_name);

	printf("Usage: %s server VARIANT BYTES [OPTION...]\n"
	       "  or:  %s client BYTES THREADS [OPTION...]\n"
	       "  or:  %s --version\n"
	       "Send TCP messages whose every byte is known, and check them at the other end.\n"
	       "'%s server --help' and '%s client --help' list the options.\n",
	       name, name, name, name, name);
}

static void words_read(struct draft *draft)
{
	struct settings *settings = draft->settings;
	bool server = settings->role == ROLE_SERVER;
	bool named = server && !settings->alternates;

	if (draft->n_words != (settings->alternates ? 1 : 2))
		usage_error(named ? "give VARIANT and BYTES: workload server A3 65536" :
			    server ? "give BYTES alone with --alternate A1,A3" :
				     "give BYTES and THREADS: workload client 65536 4");
	settings->bytes = number_parse("BYTES", draft->words[named], NUMBER_WITH_SUFFIX, BYTES_MIN, BYTES_MAX);
	if (!server) {
		settings->threads = number_parse("THREADS", draft->words[1], NUMBER_WITH_SUFFIX, 1,
						 THREADS_MAX);
		return;
	}
	if (named)
		settings->ways[settings->n_ways++] = variant_parse(draft->words[0]);
	settings->variant = settings->ways[0];
}

/* What the ways of a server need of each other, and of how it runs. */
static void alternation_complete(const struct settings *settings)
{
	unsigned int traits[WAYS_MOST];
	const char *fault;

	for (unsigned int i = 0; i < settings->n_ways; i++)
		traits[i] = settings->ways[i]->row->traits;
	fault = ways_fault(traits, settings->n_ways);
	if (settings->alternates && fault)
		usage_error("--alternate: %s", fault);
	if ((settings->alternates || settings->in_blocks) && settings->pattern == PATTERN_RR)
		usage_error("ways take turns in a stream: use --pattern stream");
	if (settings->answer_every && (!settings->alternates || traits[0] & VARIANT_DATAGRAMS))
		usage_error("--answer-every is of ways that take turns over TCP: give --alternate A1,A3");
	if (settings->alternates && (!settings->threads || settings->messages))
		usage_error("--alternate: give --clients, and --seconds in place of --messages");
	if (settings->in_blocks && (settings->readers || settings->receiver->row->traits & RECEIVER_MULTISHOT ||
				    settings->behaviours & BEHAVIOUR_BIT(client_processes)))
		usage_error("--in-blocks: the receiver must stop behind a message and be one process: leave out --readers, "
			    "uring-multishot and client-processes");
	for (unsigned int i = 0; i < settings->n_receivers; i++) {
		const char *name = settings->receivers[i]->row->name;

		fault = receiver_turn_fault(name, (settings->datagrams ? VARIANT_DATAGRAMS : 0) |
						  (settings->receiver->row->traits & (RECEIVER_TLS | RECEIVER_TLS_OLD)));
		if (fault)
			usage_error("--in-blocks: %s: %s", name, fault);
	}
}

/* A server's variant says whether it sends datagrams, a client is told. */
static void datagrams_complete(struct settings *settings)
{
	unsigned int traits = settings->variant ? settings->variant->row->traits : 0;
	const char *fault;

	settings->datagrams |= traits & VARIANT_DATAGRAMS;
	settings->datagram_manner = (struct datagram_manner){ settings->piece_bytes,
							       settings->behaviours & BEHAVIOUR_BIT(no_gro) };
	fault = variant_fault(settings->datagrams ? VARIANT_DATAGRAMS : 0, settings->pattern == PATTERN_RR,
			      settings->readers, settings->receiver->row->name);
	if (fault)
		usage_error("%s: %s", settings->variant ? settings->variant->row->name : "--datagrams", fault);
}

static void piece_complete(const struct settings *settings)
{
	unsigned int traits = 0;

	for (unsigned int i = 0; i < settings->n_ways; i++)
		traits |= settings->ways[i]->row->traits;
	if (piece_fault(traits, settings->piece_bytes))
		usage_error("--piece: %s", piece_fault(traits, settings->piece_bytes));
}

/* Threads that send on one socket know nothing of each other's bytes. */
static void senders_complete(const struct settings *settings)
{
	const char *fault;

	if (!settings->senders)
		return;
	fault = settings->alternates ? "variants that take turns have one sender" :
				       senders_fault(settings->variant->row->traits, settings->pattern == PATTERN_RR);
	if (fault)
		usage_error("--senders: %s", fault);
	if (settings->check_content)
		usage_error("--senders: messages may lie between each other: give --check none at both ends");
}

static void settings_complete(struct draft *draft)
{
	struct settings *settings = draft->settings;
	bool server = settings->role == ROLE_SERVER;
	bool decides = server == (settings->pattern == PATTERN_STREAM);

	if (settings->messages && settings->duration_ns)
		usage_error("--messages and --seconds exclude each other: give one");
	if (!server && !draft->port)
		usage_error("--port: a client needs the server's port, not 0");
	if (!endpoint_parse(draft->address, draft->port, &settings->address))
		usage_error("%s: '%s' is not a numeric IPv4 or IPv6 address",
			    server ? "--listen" : "--connect", printable(draft->address));
	if (server && settings->threads > settings->max_clients) {
		if (draft->max_clients_given)
			usage_error("--clients %u is more than --max-clients %u",
				    settings->threads, settings->max_clients);
		settings->max_clients = settings->threads;
	}
	if (settings->readers && draft->receiver_given)
		usage_error("--readers and --receiver exclude each other: give one");
	if (settings->readers && settings->pattern == PATTERN_RR)
		usage_error("--readers see no messages, so they send no replies: use --pattern stream");
	if (settings->readers && behaviours_want_messages(settings->behaviours))
		usage_error("--readers see no messages: leave out client-processes and fresh-buffer");
	if (server && behaviours_fault(settings->behaviours, settings->variant->row->traits))
		usage_error("--behaviours: %s", behaviours_fault(settings->behaviours,
								 settings->variant->row->traits));
	datagrams_complete(settings);
	alternation_complete(settings);
	senders_complete(settings);
	piece_complete(settings);
	if (decides && !settings->messages && !settings->duration_ns)
		settings->duration_ns = DEFAULT_DURATION_NS;
}

/* What the help of a role calls the program. */
static char *with_role(const char *role)
{
	static char name[PRINTABLE_BYTES + 16];

	snprintf(name, sizeof(name), "%s %s", printable(program_invocation_short_name), role);
	return name;
}

const struct table_row *settings_receive_with(const struct settings *settings, unsigned int trait)
{
	const struct table_row *row = settings->receiver->row;

	for (unsigned int i = 0; i < settings->n_receivers; i++)
		if (settings->receivers[i]->row->traits & trait)
			return settings->receivers[i]->row;
	return settings->role == ROLE_CLIENT && !settings->readers && row->traits & trait ? row : NULL;
}

bool settings_use_ring(const struct settings *settings)
{
	for (unsigned int i = 0; i < settings->n_ways; i++)
		if (settings->ways[i]->row->traits & VARIANT_RING)
			return true;
	return settings_receive_with(settings, RECEIVER_RING);
}

void settings_parse(struct settings *settings, int argc, char **argv)
{
	struct draft draft = { .settings = settings, .address = DEFAULT_ADDRESS,
			       .port = DEFAULT_PORT };
	const struct argp *argp;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		program_help();
		exit(EXIT_FINE);
	}
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		release_print();
	*settings = (struct settings){ .max_clients = DEFAULT_MAX_CLIENTS, .ready_fd = -1,
				       .go_fd = -1, .receiver = receive_method_find("recv"),
				       .block_ns = DEFAULT_BLOCK_MS * NS_PER_MS,
				       .listeners = 1, .check_content = true };
	if (argc > 1 && !strcmp(argv[1], "server")) {
		settings->role = ROLE_SERVER;
		argp = &server_argp;
		argv[1] = with_role("server");
	} else if (argc > 1 && !strcmp(argv[1], "client")) {
		settings->role = ROLE_CLIENT;
		argp = &client_argp;
		argv[1] = with_role("client");
	} else {
		usage_error("give a role: 'workload server A3 64k' or 'workload client 64k 4'; "
			    "see workload --help");
	}
	/* argp's own complaints show words as they are; without them it has no help either. */
	if (argp_parse(argp, argc - 1, argv + 1, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &draft))
		exit(EXIT_BAD_USAGE);
	words_read(&draft);
	settings_complete(&draft);
}
