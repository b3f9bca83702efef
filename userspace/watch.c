// SPDX-License-Identifier: GPL-2.0
/* Conducts a watch: whom, window open, command released, readings, window closed, record. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/json.h"
#include "userspace/common/numbers.h"
#include "userspace/common/printable.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/machine.h"
#include "userspace/common/system/record_file.h"
#include "userspace/record/record.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/command.h"
#include "userspace/watch/report/reader.h"
#include "userspace/watch/report/table.h"
#include "userspace/watch/report/watch_json.h"
#include "userspace/watch/session.h"
#include "userspace/watch/window.h"

#define PROGRAM "copyscope watch"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };
/* Larger arrays are mappings of their own. */
enum { MAPPED_BYTES = 128 << 10 };

struct conduct {
	struct watch_options options;
	struct command command;
	struct view view;
	struct reader reader;
	struct session session;
	struct record_file file, lines;
	bool has_place;	/* for a record that nobody named a file for */
	struct keeper keeper;
	struct watch_record record;	/* not on the stack, which may be limited to less */
	struct measured begun;
	char title[WATCH_NAME_BYTES];
	char **words;	/* the command line */
};

/* Prints one line and returns the exit status for it. */
static int refuse(const char *why, int status)
{
	fprintf(stderr, PROGRAM ": %s\n", why);
	return status;
}

/* Nothing is to be put back. */
static void nothing(void *arg)
{
}

static bool keeps(const struct conduct *c)
{
	return c->options.json || (c->has_place && !c->options.no_keep);
}

static int open_file(struct record_file *file, const char *option, const char *asked, const char *name)
{
	int err = record_file_reserve(file, PROGRAM, option, asked, name);

	return !err ? 0 : err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
}

/* Lines are read while they are written. */
static int open_lines(struct conduct *c)
{
	int status = open_file(&c->lines, "--json-lines", c->options.lines, NULL);
	int err = status ? 0 : record_file_name_now(&c->lines);

	if (err) {
		record_file_tell(&c->lines, PROGRAM, err);
		return EXIT_REFUSED;
	}
	c->session.deltas.out = c->lines.file;
	c->session.deltas.fold = c->options.fold_lines;
	return status;
}

/* The record's file is opened, and a process kept that may name it, before anything is touched. */
static int reserve(struct conduct *c)
{
	int status = c->options.lines ? open_lines(c) : 0, err;
	char name[WATCH_NAME_BYTES];

	measured_name(&c->begun);
	/* Without a word of it the record stays where runs leave theirs, if somebody on this host reads the report.
	 * The place is made, so that it is not to be asked for otherwise. */
	c->has_place = !c->options.json && c->reader.out && !c->reader.far && record_file_has_place();
	if (status || !keeps(c))
		return status;
	snprintf(name, sizeof(name), "%s-watch.json", c->begun.id);
	status = open_file(&c->file, "--json", c->options.json, name);
	/* A record that nobody asked for prevents no watch: a line has told why there is none. */
	if (status && !c->options.json) {
		c->options.no_keep = true;
		return 0;
	}
	if (status)
		return status;
	err = keeper_start(&c->keeper, &c->file, nothing, NULL, -1);
	return err ? refuse("cannot start the keeper of the record", EXIT_REFUSED) : 0;
}

static int find_subject(struct conduct *c)
{
	struct watch_subject *s = &c->options.subject;
	char why[WHY_BYTES] = "";
	int err;

	if (c->options.command) {
		if (command_start(&c->command, c->options.command, c->options.as_root))
			return EXIT_REFUSED;
		s->pids[0] = c->command.pid;
		s->kinds = 1u << WATCH_PIDS;
		s->pid_count = 1;
	}
	err = watch_subject_resolve(s, why);
	return err ? refuse(why, err == -EPERM || err == -EACCES ? EXIT_REFUSED : EXIT_USAGE) : 0;
}

/* If the reader has a terminal, unless a command needs it. */
static bool is_live(const struct conduct *c)
{
	return c->options.interval && !c->options.command && c->reader.out;
}

/* The machine is known. */
static int open_window(struct conduct *c)
{
	const struct watch_options *o = &c->options;
	struct watch_config config = { .subject = &c->options.subject, .books = o->books,
				       .backend = o->backend, .fault_inject = o->fault_inject,
				       .details = o->details, .cpu_hz = o->cpu_hz, .sizes = o->sizes, .stacks = o->stacks,
				       .stack_every = o->stack_every, .names = keeps(c) || c->reader.out,
				       .begun = &c->begun,
				       .every_hook = o->command, .glances = is_live(c) && !c->session.deltas.out,
				       .early_datagrams = o->fail_on || o->fail_on_needless };
	char why[WHY_BYTES] = "", id[sizeof(c->begun.id)];

	if (is_live(c))
		c->session.view = &c->view;
	/* The record's name has the id by now; its window begins here. */
	memcpy(id, c->begun.id, sizeof(id));
	measured_name(&c->begun);
	memcpy(c->begun.id, id, sizeof(id));
	if (watch_open(&c->session.window, &config, why))
		return refuse(why, EXIT_REFUSED);
	if (o->interval && record_file_is_stdout(&c->file))
		c->session.lines.out = stdout;
	else if (!o->quiet && !o->command)
		fprintf(stderr, PROGRAM ": the window is open; Ctrl-C ends it\n");
	if (c->reader.out)
		reader_tell(&c->reader, json_pack("{s:b, s:s?, s:O?}", "open", true, "live", c->session.view ? c->title : NULL,
						  "names", c->options.names));
	if (watch_confine(c->session.window))
		return refuse("the kernel refuses to take privileges away", EXIT_REFUSED);
	return 0;
}

static int write_record(struct conduct *c, const struct watch_record *r)
{
	const struct watch_options *o = &c->options;
	int err;

	/* After lines of intervals it is one, too. */
	if (c->session.lines.out)
		err = watch_json_line(&c->session.lines, r, o, c->words, &c->session.ending);
	else
		err = watch_json_write(r, o, c->words, &c->session.ending, c->file.file);
	if (!err)
		err = keeper_publish(&c->keeper, &c->file);
	if (err)
		record_file_tell(&c->file, PROGRAM, err);
	return err;
}

static int tell_lost_lines(const struct conduct *c)
{
	int err = c->session.deltas_lost;

	if (err)
		fprintf(stderr, PROGRAM ": lines of intervals were lost: %s\n", strerror(-err));
	return err;
}

/* Waits until it is printed: what --fail-on says stands below it. */
static int print_report(struct conduct *c, const struct watch_record *r, const char *file)
{
	/* The name as shown lasts until others are: it is told before the report is made. */
	json_t *told = json_pack("{s:s?}", "file", file);

	put(told, "record", (c->reader.far ? watch_json : watch_report_json)(r, &c->options, c->words, &c->session.ending));
	reader_tell(&c->reader, told);
	if (reader_end(&c->reader))
		return 0;
	fprintf(stderr, PROGRAM ": the report was not printed whole\n");
	return -EIO;
}

/* Whoever prints may be gone: the record is written before. */
static int tell(struct conduct *c, const struct watch_record *r)
{
	const struct watch_options *o = &c->options;
	int err = keeps(c) ? write_record(c, r) : 0;

	err |= tell_lost_lines(c);
	if (o->table)
		err |= watch_table_print(r, o, o->command ? stderr : stdout);
	else if (c->reader.out)
		err |= print_report(c, r, keeps(c) && !err ? printable(c->file.path) : NULL);
	else if (!o->quiet && !o->json && !o->lines)
		fprintf(stderr, PROGRAM ": no report: start it by copyscope watch, or give --table or --json FILE\n");
	return err;
}

/* What the command ended with counts, unless --fail-on asks for more. */
static int status_of(const struct conduct *c, const struct watch_record *r, bool lost)
{
	bool failed = fail_on_found(&c->options, r) || lost;
	const struct watch_ending *end = &c->session.ending;

	if (!c->options.command)
		return failed || watch_laws_broken(r) ? EXIT_BROKEN : EXIT_FINE;
	if (end->status_known)
		return end->status ? end->status : failed ? EXIT_BROKEN : EXIT_FINE;
	return c->command.lost ? refuse("the parent of the command was killed: its exit status is not "
					"known, and it may run on", EXIT_REFUSED) :
	       failed || watch_laws_broken(r) ? EXIT_BROKEN : EXIT_FINE;
}

/* The window is open. The exit status. */
static int watch(struct conduct *c)
{
	struct watch_record *r = &c->record;
	int err, status;

	if (c->options.command && command_release(&c->command, *c->options.command))
		return c->command.status;
	err = session_run(&c->session, r);
	if (err) {
		fprintf(stderr, PROGRAM ": reading failed: %s\n", strerror(-err));
		return EXIT_BROKEN;
	}
	status = status_of(c, r, tell(c, r));
	watch_record_free(r);
	return status;
}

static void end(struct conduct *c)
{
	watch_close(c->session.window);
	command_end(&c->command);
	keeper_end(&c->keeper);
	record_file_abandon(&c->file);
	record_file_abandon(&c->lines);
	line_notes_free(&c->session.deltas.notes);
	reader_end(&c->reader);
	watch_subject_close(&c->options.subject);
	json_decref(c->options.names);
}

/* Whom the live view is about. */
static void entitle(struct conduct *c)
{
	const struct watch_options *o = &c->options;
	/* What was given once is told without its option. */
	bool alone = !o->command && o->whom_count == 1;

	snprintf(c->title, sizeof(c->title), "%s%s%s", alone ? o->whom : "", alone && *o->asked ? " " : "", printable(o->asked));
}

/* What copyscope found out before it became this program: `--names FD`, of JSON, are the first words then. */
static json_t *names_take(int *argc, char ***argv)
{
	uint64_t fd;
	json_t *names;

	if (*argc < 3 || strcmp((*argv)[1], "--names") || whole_parse((*argv)[2], NUMBER_PLAIN, 0, INT32_MAX, &fd))
		return NULL;
	names = json_loadfd(fd, 0, NULL);
	close(fd);
	(*argv)[2] = (*argv)[0];
	*argv += 2;
	*argc -= 2;
	return names;
}

int main(int argc, char **argv)
{
	static struct conduct c;
	json_t *names;
	int status;

	/* Each reading makes and frees arrays of megabytes. glibc would raise this with each that is freed, up to
	 * 32 MiB, and keep them in a heap that is half holes after an hour. */
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	streams_open();
	streams_watch(PROGRAM);
	reader_take(&c.reader, &argc, &argv);
	names = names_take(&argc, &argv);
	watch_options_parse(argc, argv, &c.options);
	c.options.names = names;
	if (c.options.quiet || c.options.table || watch_prints_records(&c.options))
		reader_end(&c.reader);
	c.view.rows = c.options.rows;
	c.view.order = c.options.order;
	c.session.options = &c.options;
	c.session.words = c.words = argv;
	c.session.command = c.options.command ? &c.command : NULL;
	c.session.reader = c.reader.out ? &c.reader : NULL;
	entitle(&c);
	status = reserve(&c);
	if (!status)
		status = find_subject(&c);
	/* From here on: the command that was started is to have the signals as they were. */
	end_signals_note();
	/* Records of intervals are written all along; poll() returns for a signal all the same. */
	streams_write_whole();
	machine_read(&c.begun.machine);
	if (!status)
		status = open_window(&c);
	if (!status)
		status = watch(&c);
	end(&c);
	return status;
}
