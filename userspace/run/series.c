// SPDX-License-Identifier: GPL-2.0
/* Reads which runs to make, has each made by a child, and keeps hooks attached from one to the next. */
#include "userspace/run/series.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/system/trusted_folder.h"
#include "userspace/run/supervise.h"

enum { WORDS_MOST = 128, NAME_MOST = 200, TURNS_MOST = 3, USAGE = 2, REFUSED = 3 };

static const char json_option[] = "--json";

struct series {
	const char *path;
	int folder;
	series_run *run;
	struct lent lent;
	struct guard guard;
	int argc;
	char *argv[WORDS_MOST + 3];
	int common;	/* words of argv that all runs have */
	const char *name;
	char record[PATH_MAX];
};

/* Takes the next word off *@line, in place and without its quotes. NULL: there is none. False in *@whole: a quote is
 * open. */
static char *next_word(char **line, bool *whole)
{
	char *from = *line + strspn(*line, " \t"), *to = from, *word = from, quote = 0;

	*whole = true;
	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t", *from)); from++) {
		if (*from == quote)
			quote = 0;
		else if (!quote && strchr("'\"", *from))
			quote = *from;
		else
			*to++ = *from;
	}
	*line = *from ? from + 1 : from;
	*to = '\0';
	*whole = !quote;
	return word;
}

/* A file of its own, beside those of other runs. */
static bool is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=@,-";

	return *name && *name != '.' && strspn(name, allowed) == strlen(name) && strlen(name) <= NAME_MOST;
}

/* The words of a line in s->argv. False with one line printed. */
static bool line_read(struct series *s, char *line)
{
	bool whole;
	char *word;

	line[strcspn(line, "\n")] = '\0';
	s->name = next_word(&line, &whole);
	if (!s->name || !is_name(s->name)) {
		fprintf(stderr, "trace_run: --runs: '%s' can be no file's name: begin each line with a name of letters, "
			"digits and . _ + = @ , -\n", printable(s->name ?: ""));
		return false;
	}
	s->argc = s->common;
	while (whole && s->argc < WORDS_MOST && (word = next_word(&line, &whole)))
		s->argv[s->argc++] = word;
	if (!whole || s->argc == WORDS_MOST) {
		fprintf(stderr, "trace_run: --runs: the line of %s %s\n", s->name,
			whole ? "has too many words" : "ends within a quote");
		return false;
	}
	snprintf(s->record, sizeof(s->record), "%s/%s.json", s->path, s->name);
	s->argv[s->argc++] = (char *)json_option;
	s->argv[s->argc++] = s->record;
	s->argv[s->argc] = NULL;
	return true;
}

static int open_beside(const struct series *s, const char *suffix)
{
	char name[NAME_MOST + 16];

	snprintf(name, sizeof(name), "%s.%s", s->name, suffix);
	return openat(s->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
}

static bool redirect(const struct series *s)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = open_beside(s, "out"), err = open_beside(s, "err");

	return in >= 0 && out >= 0 && err >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 &&
	       dup2(out, STDOUT_FILENO) >= 0;
}

/* In a child. */
static int run_one(void *arg)
{
	struct series *s = arg;

	if (!redirect(s)) {
		fprintf(stderr, "trace_run: --runs %s: %s.out: %s; choose another folder\n", printable(s->path), s->name,
			strerror(errno));
		return REFUSED;
	}
	return s->run(s->argc, s->argv, &s->lent);
}

/* Runs until hooks are attached as the run needs them. False if it could not be started, or a signal ended it. */
static bool run_with_hooks(struct series *s, int *status, int *passed)
{
	s->lent.alone = false;
	for (int turn = 1;; turn++) {
		if (!guard_run(&s->guard, run_one, s, status, passed))
			return false;
		if (*passed || !WIFEXITED(*status) || WEXITSTATUS(*status) != TRY_ATTACH)
			return !*passed;
		/* What the kernel refuses, the run says itself. */
		s->lent.alone = s->lent.asked->none || turn == TURNS_MOST || lent_attach(&s->lent);
		if (s->lent.alone)
			lent_free(&s->lent);
	}
}

static int status_write(const struct series *s, int status)
{
	int fd = open_beside(s, "status"), err = fd < 0 || dprintf(fd, "%d\n", status) < 0 ? -errno : 0;

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (err)
		fprintf(stderr, "trace_run: --runs %s: %s.status: %s\n", printable(s->path), s->name, strerror(-err));
	return err;
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Makes the runs of stdin. The exit status. */
static int make_all(struct series *s)
{
	int status = 0, passed = 0, worst = 0;
	size_t room = 0;
	char *line = NULL;

	/* Else a child could give back what was read ahead, and it would come again. */
	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		/* While nothing runs, a signal may end this process. */
		sigprocmask(SIG_SETMASK, &s->guard.mask, NULL);
		if (getline(&line, &room, stdin) < 0)
			break;
		sigprocmask(SIG_BLOCK, &s->guard.heard, NULL);
		if (!line_read(s, line)) {
			worst = USAGE;
			break;
		}
		printf("begin %s\n", s->name);
		fflush(stdout);
		if (!run_with_hooks(s, &status, &passed))
			return guard_end(&s->guard, status, passed);
		if (status_write(s, exit_status(status)))
			return REFUSED;
		printf("end %s %d\n", s->name, exit_status(status));
		fflush(stdout);
		worst |= status != 0;
	}
	free(line);
	return worst;
}

/* 0, or -1 with one line printed. */
static int folder_open(struct series *s)
{
	char why[FOLDER_WHY_BYTES] = "";
	int way;

	if (mkdir(s->path, 0755) && errno != EEXIST)
		snprintf(why, sizeof(why), "%s", strerror(errno));
	way = *why ? -1 : trusted_folder_open(s->path, why);
	/* What walked there may only look. */
	s->folder = way < 0 ? -1 : openat(way, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->folder < 0)
		fprintf(stderr, "trace_run: --runs %s: %s; choose another folder\n", printable(s->path),
			*why ? why : strerror(way < 0 ? -way : errno));
	if (way >= 0)
		close(way);
	return s->folder < 0 ? -1 : 0;
}

int series_make(const char *folder, char *program, int count, char **common, series_run *run)
{
	static struct series s;
	int status;

	s = (struct series){ .path = folder, .run = run, .common = 1, .argv = { program } };
	if (count > WORDS_MOST / 2) {
		fprintf(stderr, "trace_run: --runs: too many words\n");
		return USAGE;
	}
	for (int i = 0; i < count; i++)
		s.argv[s.common++] = common[i];
	s.lent.asked = mmap(NULL, sizeof(*s.lent.asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.lent.asked == MAP_FAILED) {
		perror("trace_run: --runs: no memory");
		return REFUSED;
	}
	if (folder_open(&s))
		return USAGE;
	guard_begin(&s.guard);
	status = make_all(&s);
	lent_free(&s.lent);
	close(s.folder);
	return status;
}
