// SPDX-License-Identifier: GPL-2.0
/* Keeps a record under its name only once it is whole, in room that was reserved before. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/trace/record_json.h"
#include "userspace/trace/tree.h"

/* More than any record of a few hundred sockets; what is not used is given back. */
enum { RESERVED_BYTES = 1 << 20 };

int keep_open(struct keep *k, const char *path)
{
	char folder[sizeof(k->path)];
	struct stat st;
	int err;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	snprintf(k->path, sizeof(k->path), "%s", path);
	snprintf(folder, sizeof(folder), "%s", path);
	/* Nameless until it is linked: a run that is killed leaves no file. */
	k->fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	if (k->fd < 0)
		return -errno;
	err = posix_fallocate(k->fd, 0, RESERVED_BYTES);
	if (!err)
		return 0;
	close(k->fd);
	k->fd = -1;
	return -err;
}

int keep_reserve(struct keep *k, const char *asked, const char *id)
{
	char path[sizeof(k->path)], name[128];
	int err;

	k->fd = -1;
	if (asked && !strcmp(asked, "-"))
		return 0;
	if (asked) {
		snprintf(path, sizeof(path), "%s", asked);
	} else {
		snprintf(name, sizeof(name), "%s.json", id);
		tree_record_path(name, path, sizeof(path));
	}
	err = keep_open(k, path);
	if (err)
		fprintf(stderr, "trace_run: cannot write the record %s: %s; choose another --json FILE\n",
			path, strerror(-err));
	return err;
}

static int publish(const struct keep *k)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", k->fd);
	if (unlink(k->path) && errno != ENOENT)
		return -errno;
	return linkat(AT_FDCWD, from, AT_FDCWD, k->path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int keep_commit(struct keep *k, const struct record *r)
{
	FILE *file = fdopen(dup(k->fd), "w");
	int err;

	if (!file)
		return -errno;
	err = record_write(r, file);
	if (!err && ftruncate(k->fd, ftell(file)))
		err = -errno;
	fclose(file);
	if (!err)
		err = publish(k);
	keep_abandon(k);
	return err;
}

void keep_abandon(struct keep *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}
