// SPDX-License-Identifier: GPL-2.0
/*
 * Walks to a folder step by step, and as root refuses a step that others could redirect.
 *
 * tools/lib/copyscope/files/output_folder.py has the same rules for the commands in Python.
 */
#include "userspace/common/system/trusted_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/numbers.h"
#include "userspace/common/system/sudo_caller.h"

enum { LINKS_MAX = 40, WAY = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

struct walk {
	int at;
	int links;
	char *why;
};

/* In a user namespace all users without a number in it, such as the real root, look like one
 * user. */
static bool has_no_number_here(uid_t user)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long inside, outside, count = 0;
	bool whole;

	if (!file)
		return false;
	whole = fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3 && count == UINT_MAX;
	fclose(file);
	return !whole && user == number_in_file("/proc/sys/kernel/overflowuid", 65534);
}

bool trusted_user(uid_t user)
{
	struct stat program;
	uint32_t caller;

	return user == 0 || user == geteuid() ||
	       (!stat("/proc/self/exe", &program) && user == program.st_uid) ||
	       (sudo_caller(SUDO_UID, &caller) == 1 && user == caller) || has_no_number_here(user);
}

static bool group_has_strangers(gid_t group)
{
	struct group *entry = group ? getgrgid(group) : NULL;
	struct passwd *user;
	bool found = group && !entry;

	if (!group)
		return false;
	for (char **name = entry ? entry->gr_mem : NULL; name && *name && !found; name++) {
		user = getpwnam(*name);
		found = user && !trusted_user(user->pw_uid);
	}
	setpwent();
	while (!found && (user = getpwent()))
		found = user->pw_gid == group && !trusted_user(user->pw_uid);
	endpwent();
	return found;
}

static bool others_may_write(int fd, const struct stat *st)
{
	char link[64];

	if (st->st_mode & S_IWOTH || !(st->st_mode & S_IWGRP))
		return st->st_mode & S_IWOTH;
	/* With an access list these bits are its mask, and do not show whom it names. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return getxattr(link, "system.posix_acl_access", NULL, 0) > 0 ||
	       group_has_strangers(st->st_gid);
}

/* Steps into @next, which is called @name. */
static int move(struct walk *w, int next, const char *name)
{
	struct stat st;

	if (next < 0)
		return -errno;
	if (w->at >= 0)
		close(w->at);
	w->at = next;
	if (fstat(next, &st))
		return -errno;
	if (!trusted_user(st.st_uid))
		snprintf(w->why, FOLDER_WHY_BYTES, "%s belongs to user %u, so that root's files are "
			 "not safe there", printable(name), st.st_uid);
	else if (!(st.st_mode & S_ISVTX) && others_may_write(next, &st))
		snprintf(w->why, FOLDER_WHY_BYTES, "other users may write to %s, so that root's "
			 "files are not safe there", printable(name));
	else
		return 0;
	return -EPERM;
}

static int go(struct walk *w, const char *path);

static int follow(struct walk *w, const char *name, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t length;
	int err = 0;

	if (!trusted_user(st->st_uid)) {
		snprintf(w->why, FOLDER_WHY_BYTES, "%s is a link of user %u", printable(name),
			 st->st_uid);
		return -EPERM;
	}
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	length = readlinkat(w->at, name, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (*target == '/')
		err = move(w, open("/", WAY), "/");
	return err ? err : go(w, target);
}

static int step(struct walk *w, const char *name)
{
	struct stat st;

	if (fstatat(w->at, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISLNK(st.st_mode) ? follow(w, name, &st) : move(w, openat(w->at, name, WAY), name);
}

static int go(struct walk *w, const char *path)
{
	char name[NAME_MAX + 1];
	size_t length;
	int err = 0;

	for (path += strspn(path, "/"); *path && !err; path += strspn(path, "/")) {
		length = strcspn(path, "/");
		if (length > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, length);
		name[length] = '\0';
		path += length;
		err = step(w, name);
	}
	return err;
}

int trusted_folder_open(const char *path, char why[FOLDER_WHY_BYTES])
{
	struct walk w = { .at = -1, .why = why };
	char here[PATH_MAX];
	int fd, err;

	*why = '\0';
	if (geteuid()) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	err = move(&w, open("/", WAY), "/");
	if (!err && *path != '/')
		err = getcwd(here, sizeof(here)) ? go(&w, here) : -errno;
	if (!err)
		err = go(&w, path);
	if (err && w.at >= 0)
		close(w.at);
	return err ? err : w.at;
}
