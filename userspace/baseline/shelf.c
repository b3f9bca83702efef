// SPDX-License-Identifier: GPL-2.0
/* Keeps a record under its name only once it is whole. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/baseline/suite.h"
#include "userspace/trace/tree.h"

enum { RESERVED_BYTES = 1 << 20 };

static int open_nameless(struct shelf *shelf)
{
	char folder[sizeof(shelf->path)];
	struct stat st;
	int err;

	shelf->direct = !stat(shelf->path, &st) && !S_ISREG(st.st_mode);
	if (shelf->direct) {
		shelf->fd = open(shelf->path, O_WRONLY | O_CLOEXEC);
		return shelf->fd < 0 ? -errno : 0;
	}
	memcpy(folder, shelf->path, sizeof(folder));
	shelf->fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	if (shelf->fd < 0)
		return -errno;
	err = posix_fallocate(shelf->fd, 0, RESERVED_BYTES);
	if (err)
		close(shelf->fd);
	return -err;
}

int shelf_reserve(struct shelf *shelf, const char *asked, const char *id)
{
	char name[128];
	int err;

	shelf->fd = -1;
	if (asked && !strcmp(asked, "-"))
		return 0;
	if (asked) {
		snprintf(shelf->path, sizeof(shelf->path), "%s", asked);
	} else {
		snprintf(name, sizeof(name), "%s.baseline.json", id);
		tree_record_path(name, shelf->path, sizeof(shelf->path));
	}
	err = open_nameless(shelf);
	if (err)
		fprintf(stderr, "baseline: cannot write the record %s: %s; choose another --json FILE\n",
			shelf->path, strerror(-err));
	return err;
}

int shelf_keep(struct shelf *shelf, const struct suite *s)
{
	FILE *file = fdopen(shelf->fd, "w");
	char from[64];
	int err;

	if (!file)
		return -errno;
	err = suite_write(s, file);
	if (shelf->direct) {
		fclose(file);
		return err;
	}
	if (!err && (fflush(file) || ftruncate(shelf->fd, ftell(file))))
		err = -errno;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", shelf->fd);
	if (!err && unlink(shelf->path) && errno != ENOENT)
		err = -errno;
	if (!err && linkat(AT_FDCWD, from, AT_FDCWD, shelf->path, AT_SYMLINK_FOLLOW))
		err = -errno;
	fclose(file);
	return err;
}
