// SPDX-License-Identifier: GPL-2.0
/* Conducts a watch: whom, window open, command released, readings, window closed, report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/files/record_file.h"
#include "userspace/common/files/record_keeper.h"
#include "userspace/common/foreign.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/machine.h"
#include "userspace/record/record.h"
#include "userspace/watch/command/command.h"
#include "userspace/watch/report/json/watch_json.h"
#include "userspace/watch/report/report.h"
#include "userspace/watch/session/end_signals.h"
#include "userspace/watch/session/session.h"
#include "userspace/watch/window/watch_window.h"

#define PROGRAM "copyscope watch"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };

struct conduct {
	struct watch_options options;
	struct command command;
	struct view view;
	struct page page;
	struct session session;
	struct record_file file;
	struct keeper keeper;
	struct record named;	/* of which the id, the start and the machine are the watch's, too */
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

/* The record's file is opened, and a process kept that may name it, before anything is touched. */
static int reserve(struct conduct *c)
{
	int err = 0;

	if (!c->options.json)
		return 0;
	err = record_file_reserve(&c->file, PROGRAM, "--json", c->options.json, NULL);
	if (err)
		return err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
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
		s->pid_count = 1;
	}
	err = watch_subject_resolve(s, why);
	return err ? refuse(why, err == -EPERM || err == -EACCES ? EXIT_REFUSED : EXIT_USAGE) : 0;
}

static bool is_to_stdout(const struct watch_options *o)
{
	return o->json && !strcmp(o->json, "-");
}

/* On a terminal, unless a command needs it or stdout is for the record. */
static bool is_live(const struct watch_options *o)
{
	return o->interval && !o->quiet && !o->command && !is_to_stdout(o) && screen_possible();
}

static int open_window(struct conduct *c)
{
	const struct watch_options *o = &c->options;
	struct watch_config config = { .subject = &c->options.subject, .books = o->books,
				       .backend = o->backend, .fault = o->fault,
				       .every_hook = o->command };
	char why[WHY_BYTES] = "";

	if (is_live(o)) {
		if (screen_open(&c->view.screen))
			return refuse("cannot start the keeper of the terminal", EXIT_REFUSED);
		c->session.view = &c->view;
	}
	machine_read(&c->named.machine);
	record_name(&c->named);
	c->session.id = c->named.id;
	c->session.started = c->named.started;
	c->session.machine = &c->named.machine;
	if (watch_open(&c->session.window, &config, why))
		return refuse(why, EXIT_REFUSED);
	if (is_to_stdout(o) && o->interval)
		c->session.lines = stdout;
	else if (!o->quiet && !o->command && !c->session.view)
		fprintf(stderr, PROGRAM ": the window is open; Ctrl-C ends it\n");
	if (watch_confine(c->session.window))
		return refuse("the kernel refuses to take privileges away", EXIT_REFUSED);
	return 0;
}

/* Text goes out in one piece: a command may print to the same terminal. */
static void print_report(const struct conduct *c, const struct watch_record *r)
{
	struct page page = c->page;
	size_t bytes;
	char *text;

	page.out = open_memstream(&text, &bytes);
	if (!page.out)
		return;
	watch_report_print(r, &page);
	if (!fclose(page.out))
		fwrite(text, 1, bytes, c->page.out);
	free(text);
}

static int write_record(struct conduct *c, const struct watch_record *r)
{
	const struct watch_options *o = &c->options;
	int err;

	/* After lines of intervals it is one, too. */
	if (c->session.lines)
		err = watch_json_line(r, o, c->words, &c->session.ending, c->file.file);
	else
		err = watch_json_write(r, o, c->words, &c->session.ending, c->file.file);
	if (!err)
		err = keeper_publish(&c->keeper, &c->file);
	if (err)
		record_file_tell(&c->file, PROGRAM, err);
	return err;
}

static int tell(struct conduct *c, const struct watch_record *r)
{
	const struct watch_options *o = &c->options;
	int err = o->json ? write_record(c, r) : 0;

	if (o->quiet || is_to_stdout(o))
		return err;
	print_report(c, r);
	if (o->json && !err)
		fprintf(c->page.out, "\nrecord          %s\n", foreign(c->file.path));
	return err;
}

/* The window is open. The exit status. */
static int watch(struct conduct *c)
{
	struct watch_record r = {};
	int err, status;

	if (c->options.command && command_release(&c->command, *c->options.command))
		return c->command.status;
	err = session_run(&c->session, &r);
	if (err) {
		fprintf(stderr, PROGRAM ": reading failed: %s\n", strerror(-err));
		return EXIT_BROKEN;
	}
	status = tell(c, &r) || watch_laws_broken(&r) ? EXIT_BROKEN : EXIT_FINE;
	if (c->options.command && c->session.ending.status_known)
		status = c->session.ending.status;
	watch_record_free(&r);
	return status;
}

static void end(struct conduct *c)
{
	screen_close(&c->view.screen);
	watch_close(c->session.window);
	command_end(&c->command);
	keeper_end(&c->keeper);
	record_file_abandon(&c->file);
	watch_subject_close(&c->options.subject);
}

/* Whom the live view is about. */
static void entitle(struct conduct *c)
{
	const char *value = c->options.whom_value;

	snprintf(c->title, sizeof(c->title), "%s%s%s", c->options.command ? "" : c->options.whom,
		 *value && !c->options.command ? " " : "", foreign(value));
	c->view.title = c->title;
}

int main(int argc, char **argv)
{
	static struct conduct c;
	int status;

	c.words = argv;
	streams_open();
	streams_watch(PROGRAM);
	watch_options_parse(argc, argv, &c.options);
	c.page = page_of(c.options.command ? stderr : stdout, &c.options);
	c.view.page = c.session.blocks = c.page;
	c.session.options = &c.options;
	c.session.words = argv;
	c.session.command = c.options.command ? &c.command : NULL;
	entitle(&c);
	end_signals_note();
	/* Records of intervals are written all along; poll() returns for a signal all the same. */
	streams_write_whole();
	status = reserve(&c);
	if (!status)
		status = find_subject(&c);
	if (!status)
		status = open_window(&c);
	if (!status)
		status = watch(&c);
	end(&c);
	return status;
}
