// SPDX-License-Identifier: GPL-2.0
/* Gives a record its name only when it is whole, in space that was reserved before. */
#include "userspace/common/files/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/files/tree.h"
#include "userspace/common/files/trusted_folder.h"
#include "userspace/common/foreign.h"

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
	snprintf(k->aside, sizeof(k->aside), ".copyscope-%016" PRIx64 ".part", number);
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
	if (!asked)
		err = tree_record_path(name, k->path, sizeof(k->path));
	else if (snprintf(k->path, sizeof(k->path), "%s", asked) >= (int)sizeof(k->path))
		err = -ENAMETOOLONG;
	if (!err)
		err = open_at(k);
	if (err)
		fprintf(stderr, "%s: cannot write the record %s: %s; choose another %s%s FILE\n", program,
			foreign(asked ? asked : k->path), *why ? why : strerror(-err),
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
	err = link_as(k, k->aside);
	if (err || !renameat(k->folder, k->aside, k->folder, k->name))
		return err;
	err = -errno;
	unlinkat(k->folder, k->aside, 0);
	return err;
}

int record_file_name(const struct record_file *k, bool *spared)
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

int record_file_finish(struct record_file *k)
{
	int err;

	/* If the reader of a pipe left, the error is reported like that of a full disk. */
	signal(SIGPIPE, SIG_IGN);
	err = fflush(k->file) ? -errno : 0;
	return !err && k->nameless && ftruncate(fileno(k->file), ftell(k->file)) ? -errno : err;
}

int record_file_publish(struct record_file *k)
{
	int err = record_file_finish(k);

	if (!err && k->nameless)
		err = record_file_name(k, &k->spared);
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
