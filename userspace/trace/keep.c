// SPDX-License-Identifier: GPL-2.0
/* Keeps a record under its name only once it is whole, in room that was reserved before. */
#include "userspace/trace/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/trace/tree.h"

/* More than any record of a few hundred sockets; what is not used is given back. */
enum { RESERVED_BYTES = 1 << 20 };

static int open_direct(struct keep *k)
{
	int fd = open(k->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	k->nameless = false;
	k->file = fd < 0 ? NULL : fdopen(fd, "w");
	return k->file ? 0 : -errno;
}

static int open_nameless(struct keep *k)
{
	char folder[sizeof(k->path)];
	int fd, err;

	memcpy(folder, k->path, sizeof(folder));
	fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = posix_fallocate(fd, 0, RESERVED_BYTES);
	k->nameless = true;
	k->file = err ? NULL : fdopen(fd, "w");
	if (k->file)
		return 0;
	close(fd);
	return err ? -err : -ENOMEM;
}

int keep_reserve(struct keep *k, const char *program, const char *asked, const char *name)
{
	struct stat st;
	int err;

	*k = (struct keep){ 0 };
	if (asked && !strcmp(asked, "-")) {
		k->file = stdout;
		return 0;
	}
	if (asked)
		snprintf(k->path, sizeof(k->path), "%s", asked);
	else
		tree_record_path(name, k->path, sizeof(k->path));
	err = stat(k->path, &st) || S_ISREG(st.st_mode) ? open_nameless(k) : open_direct(k);
	if (err)
		fprintf(stderr, "%s: cannot write the record %s: %s; choose another --json FILE\n",
			program, foreign(k->path), strerror(-err));
	return err;
}

bool keep_is_stdout(const struct keep *k)
{
	return k->file == stdout;
}

int keep_name(const struct keep *k)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(k->file));
	if (unlink(k->path) && errno != ENOENT)
		return -errno;
	return linkat(AT_FDCWD, from, AT_FDCWD, k->path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int keep_finish(struct keep *k)
{
	int err = fflush(k->file) ? -errno : 0;

	return !err && k->nameless && ftruncate(fileno(k->file), ftell(k->file)) ? -errno : err;
}

int keep_publish(struct keep *k)
{
	int err = keep_finish(k);

	if (!err && k->nameless)
		err = keep_name(k);
	keep_abandon(k);
	return err;
}

void keep_abandon(struct keep *k)
{
	if (k->file && k->file != stdout)
		fclose(k->file);
	k->file = NULL;
}
