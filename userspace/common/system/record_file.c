// SPDX-License-Identifier: GPL-2.0
/* Gives a record its name only when it is whole, in space that was reserved before. */
#include "userspace/common/system/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/trusted_folder.h"

/* Finds the tree by the path of the running program, so that it works from any folder. */

bool tree_is_none;

void tree_path(const char *name, char *path, size_t size)
{
	char self[PATH_MAX] = {};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		snprintf(self, sizeof(self), "build/trace_run");
	snprintf(path, size, "%.3000s/%s", dirname(dirname(self)), name);
}

/* The caller that opens it reports what is wrong. */
static void make_folder(const char *path)
{
	char parent[PATH_MAX], last[PATH_MAX], why[FOLDER_WHY_BYTES];
	int fd;

	snprintf(parent, sizeof(parent), "%s", path);
	snprintf(last, sizeof(last), "%s", path);
	fd = trusted_folder_open(dirname(parent), why);
	if (fd < 0)
		return;
	mkdirat(fd, basename(last), 0755);
	close(fd);
}

/* Writes the path of the record @name in COPYSCOPE_RUNS, or in results/runs of the tree. Makes that
 * folder if it can; as root only if no other user decides where the path leads. 0, or
 * -ENAMETOOLONG. */
static int tree_record_path(const char *name, char *path, size_t size)
{
	const char *runs = getenv("COPYSCOPE_RUNS");
	char folder[PATH_MAX];

	/* An empty one, as of an unset variable, would mean the root folder. */
	if (!runs || !*runs) {
		/* A fresh clone has neither of the two. */
		tree_path("results", folder, sizeof(folder));
		make_folder(folder);
		tree_path("results/runs", folder, sizeof(folder));
		runs = folder;
	}
	if (snprintf(path, size, "%s/%s", runs, name) >= (int)size)
		return -ENAMETOOLONG;
	make_folder(runs);
	return 0;
}

static bool has_no_place(void)
{
	return tree_is_none && !getenv("COPYSCOPE_RUNS");
}

bool record_file_has_place(void)
{
	char path[PATH_MAX];

	if (has_no_place() || tree_record_path("", path, sizeof(path)))
		return false;
	return !access(path, W_OK);
}

/* More than the record of a few hundred sockets; the rest is released. */
enum { RESERVED_BYTES = 1 << 20 };

static char why[FOLDER_WHY_BYTES + 32];

static int refuse(int err, const char *what)
{
	snprintf(why, sizeof(why), "%s", what);
	return err;
}

/* A device, a pipe or such, of which @st is known. */
static int open_direct(struct record_file *k, int folder, const struct stat *st, bool link)
{
	int fd = openat(folder, k->name, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK |
					 (link ? 0 : O_NOFOLLOW));
	int err = fd < 0 ? -errno : 0;

	if (err == -ENXIO && S_ISFIFO(st->st_mode))
		return refuse(err, "no process reads that pipe; start its reader first");
	if (err)
		return err;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	k->file = fdopen(fd, "w");
	if (!k->file)
		close(fd);
	return k->file ? 0 : -ENOMEM;
}

/* A regular file that has no name before it is whole. */
static int open_nameless(struct record_file *k, int folder)
{
	uint64_t number = 0;
	int fd, err;

	if (faccessat(folder, ".", W_OK, AT_EACCESS))
		return -errno;
	fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		return refuse(-errno, "the file system there has no unnamed files (O_TMPFILE)");
	if (fd < 0)
		return -errno;
	err = posix_fallocate(fd, 0, RESERVED_BYTES);
	k->file = err ? NULL : fdopen(fd, "w");
	if (!k->file) {
		close(fd);
		return err ? -err : -ENOMEM;
	}
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = getpid();
	snprintf(k->temporary, sizeof(k->temporary), ".copyscope-%016" PRIx64 ".part", number);
	snprintf(k->spare, sizeof(k->spare), "copyscope-%016" PRIx64 ".json", number);
	k->nameless = true;
	k->folder = folder;
	return 0;
}

/* What no process may replace, and root neither, is found before the run. */
static int check_replaceable(int folder, const char *name)
{
	struct statx file = {}, way = {};

	/* A kernel or a file system that does not tell: then the end of the run does. */
	if (statx(folder, name, AT_SYMLINK_NOFOLLOW, 0, &file) ||
	    statx(folder, "", AT_EMPTY_PATH, 0, &way))
		return 0;
	if (file.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND) ||
	    way.stx_attributes & STATX_ATTR_APPEND)
		return refuse(-EPERM, "it may not be replaced (lsattr shows why)");
	return file.stx_attributes & STATX_ATTR_MOUNT_ROOT ?
		       refuse(-EBUSY, "it is a mount, which cannot be replaced") : 0;
}

static int open_in(struct record_file *k, int folder)
{
	struct stat st = {};
	bool link, there = !fstatat(folder, k->name, &st, AT_SYMLINK_NOFOLLOW);
	int err;

	if (!there && errno != ENOENT)
		return -errno;
	link = there && S_ISLNK(st.st_mode);
	/* A link may lead to anybody's file. Only /dev/stdout and the like may lead into a pipe. */
	if (link && ((!geteuid() && !trusted_user(st.st_uid)) ||
		     fstatat(folder, k->name, &st, 0) || S_ISREG(st.st_mode)))
		return refuse(-ELOOP, "it is a link");
	if (there && S_ISDIR(st.st_mode))
		return -EISDIR;
	/* In a sticky folder: root must not replace it, nor wait for the reader of a pipe there. */
	if (!geteuid() && (S_ISREG(st.st_mode) || (S_ISFIFO(st.st_mode) && !link)) &&
	    !trusted_user(st.st_uid)) {
		snprintf(why, sizeof(why), "it belongs to user %u", st.st_uid);
		return -EPERM;
	}
	if (there && !S_ISREG(st.st_mode))
		return open_direct(k, folder, &st, link);
	k->replaces = there ? st.st_uid : geteuid();
	err = there ? check_replaceable(folder, k->name) : 0;
	return err ? err : open_nameless(k, folder);
}

/* Parts the path at its last slash, without a buffer of the same length. */
static int open_at(struct record_file *k)
{
	char *slash = strrchr(k->path, '/'), *name = slash ? slash + 1 : k->path;
	char kept = slash ? slash[1] : 0;
	int folder, err;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(k->name, name);
	if (slash)
		slash[1] = '\0';
	folder = trusted_folder_open(slash ? k->path : ".", why);
	if (slash)
		slash[1] = kept;
	if (folder < 0)
		return folder;
	err = open_in(k, folder);
	if (!k->nameless)
		close(folder);
	return err;
}

int record_file_reserve(struct record_file *k, const char *program, const char *option,
			const char *asked, const char *name)
{
	int err = 0;

	*k = (struct record_file){ .folder = -1 };
	*why = '\0';
	if (asked && !strcmp(asked, "-")) {
		k->file = stdout;
		return 0;
	}
	if (!asked && has_no_place()) {
		fprintf(stderr, "%s: name the record: %s FILE, or - for stdout\n", program, option);
		return -ENOENT;
	}
	if (!asked)
		err = tree_record_path(name, k->path, sizeof(k->path));
	else if (snprintf(k->path, sizeof(k->path), "%s", asked) >= (int)sizeof(k->path))
		err = -ENAMETOOLONG;
	if (!err)
		err = open_at(k);
	if (err)
		fprintf(stderr, "%s: cannot write the record %s: %s; choose another %s%s FILE\n", program,
			printable(asked ? asked : k->path), *why ? why : strerror(-err),
			asked ? "" : "COPYSCOPE_RUNS or ", option);
	return err;
}

bool record_file_is_stdout(const struct record_file *k)
{
	return k->file == stdout;
}

static int link_as(const struct record_file *k, const char *name)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(k->file));
	return linkat(AT_FDCWD, from, k->folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Replaces an older record in one step; keeps anything else that has appeared there, and what
 * another user put there in a folder that is everybody's. */
static int take_name(const struct record_file *k)
{
	int err = link_as(k, k->name);
	struct stat st, own;

	if (err != -EEXIST)
		return err;
	if (fstat(fileno(k->file), &own) || fstatat(k->folder, k->name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || (st.st_uid != own.st_uid && st.st_uid != k->replaces))
		return -EEXIST;
	err = link_as(k, k->temporary);
	if (err || !renameat(k->folder, k->temporary, k->folder, k->name))
		return err;
	err = -errno;
	unlinkat(k->folder, k->temporary, 0);
	return err;
}

/* A nameless file gets its name, for which @file and @folder must be open. 0 or -errno. */
static int take_any_name(const struct record_file *k, bool *spared)
{
	int err = take_name(k);

	*spared = err && !link_as(k, k->spare);
	return err;
}

int record_file_name_now(struct record_file *k)
{
	int err;

	if (!k->nameless)
		return 0;
	err = ftruncate(fileno(k->file), 0) ? -errno : take_name(k);
	if (err)
		return err;
	close(k->folder);
	k->nameless = false;
	return 0;
}

/* Everything written reaches the file. A process that may not name it lets another one do that. 0 or -errno. */
static int finish(struct record_file *k)
{
	int err;

	/* If the reader of a pipe left, the error is reported like that of a full disk. */
	signal(SIGPIPE, SIG_IGN);
	err = fflush(k->file) ? -errno : 0;
	return !err && k->nameless && ftruncate(fileno(k->file), ftell(k->file)) ? -errno : err;
}

int record_file_publish(struct record_file *k)
{
	int err = finish(k);

	if (!err && k->nameless)
		err = take_any_name(k, &k->spared);
	record_file_abandon(k);
	return err;
}

void record_file_tell(const struct record_file *k, const char *program, int err)
{
	fprintf(stderr, "%s: cannot write the record: %s%s%s\n", program, strerror(-err),
		k->spared ? "; it lies beside it as " : "", k->spared ? k->spare : "");
}

void record_file_abandon(struct record_file *k)
{
	if (k->file == stdout && ferror(stdout)) {
		/* The error was reported: the check at exit must not report it again. */
		__fpurge(stdout);
		clearerr(stdout);
	} else if (k->file && k->file != stdout) {
		fclose(k->file);
	}
	if (k->file && k->nameless)
		close(k->folder);
	k->file = NULL;
}

/* Forks the process that stays root to name the record and to put settings back. */

/* What root needs to name files: in folders of other users, and in place of their files. */
static const uint64_t powers = 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER | 1ull << CAP_NET_ADMIN;

/* It waits for the end of the run, so it must not end before. */
static void become_deaf(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	setsid();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_IGN);
}

struct answer {
	int32_t err;
	bool spared;
};

static void serve(int line, const struct record_file *file)
{
	struct answer answer = {};
	ssize_t got;
	char word;

	while ((got = read(line, &word, 1))) {
		if (got < 0 && errno == EINTR)
			continue;
		answer.err = got < 0 ? -EIO : take_any_name(file, &answer.spared);
		if (got < 0 || write(line, &answer, sizeof(answer)) != sizeof(answer))
			return;
	}
}

int keeper_start(struct keeper *k, const struct record_file *file, void (*at_end)(void *arg), void *arg,
		 int descriptor)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	k->pid = fork();
	if (!k->pid) {
		prctl(PR_SET_NAME, "record-keeper");
		become_deaf();
		if (confine_descriptors((int[]){ STDERR_FILENO, ends[1], fileno(file->file),
						 file->folder, descriptor }, 5) ||
		    confine_root_but(powers))
			_exit(1);
		serve(ends[1], file);
		at_end(arg);
		_exit(0);
	}
	close(ends[1]);
	k->line = ends[0];
	if (k->pid > 0)
		return 0;
	k->pid = 0;
	close(ends[0]);
	return -EAGAIN;
}

int keeper_publish(const struct keeper *k, struct record_file *file)
{
	int err = finish(file);
	struct answer answer;

	if (!err && file->nameless) {
		err = -EIO;
		if (write(k->line, "n", 1) == 1 &&
		    read(k->line, &answer, sizeof(answer)) == sizeof(answer)) {
			err = answer.err;
			file->spared = answer.spared;
		}
	}
	record_file_abandon(file);
	return err;
}

void keeper_end(struct keeper *k)
{
	if (k->pid <= 0)
		return;
	close(k->line);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}
