// SPDX-License-Identifier: GPL-2.0
/* Finds the cgroups and the network namespaces that a subject was named by, and names of cgroups. */
#include "userspace/watch/options/subject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/common/printable.h"
#include "userspace/common/system/machine.h"
#include "userspace/watch/options/called.h"

/* A namespace, and a pipe each way to the process that enters it. */
enum { DESCRIPTORS_EACH = 3, OTHER_DESCRIPTORS = 256 };

static int say(char why[WHY_BYTES], int err, const char *what, const char *name)
{
	snprintf(why, WHY_BYTES, "%s%.120s", what, printable(name));
	return err;
}

static int say_nobody(const char *name, char why[WHY_BYTES])
{
	char near[WHY_BYTES / 2];

	processes_called_nearly(name, near, sizeof(near));
	snprintf(why, WHY_BYTES, "no process that runs is called %s%s", printable(name), near);
	return -ESRCH;
}

/* Enters a namespace and comes back: one of a foreign user namespace may be closed to us. */
static bool can_enter(int ns)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	bool entered = own >= 0 && !setns(ns, CLONE_NEWNET);

	if (entered && setns(own, CLONE_NEWNET))
		abort();
	if (own >= 0)
		close(own);
	return entered;
}

static bool is_own(ino_t inode)
{
	struct stat own;

	return !stat("/proc/self/ns/net", &own) && own.st_ino == inode;
}

/* A thread that has ended is in no namespace. */
static int netns_of_thread(const char *pid, const char *thread)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/ns/net", pid, thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The first thread may end before the others. -ESRCH: all have, collected or not. */
static int netns_open(const char *pid)
{
	int fd = netns_of_thread(pid, pid);
	struct dirent *entry;
	char path[64];
	DIR *threads;

	if (fd != -ENOENT && fd != -ESRCH)
		return fd;
	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	threads = opendir(path);
	fd = -ESRCH;
	while (threads && fd == -ESRCH && (entry = readdir(threads)))
		if (entry->d_name[0] != '.') {
			fd = netns_of_thread(pid, entry->d_name);
			fd = fd == -ENOENT ? -ESRCH : fd;
		}
	if (threads)
		closedir(threads);
	return fd;
}

/* Notes the namespace of the process if it is a new one. */
static int netns_add(struct watch_subject *s, const char *pid)
{
	struct stat st;
	int fd = netns_open(pid);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	for (int i = 0; i < s->netns_count; i++)
		if (s->netns[i] == st.st_ino) {
			close(fd);
			return 0;
		}
	if (s->netns_count >= s->netns_most || (!is_own(st.st_ino) && !can_enter(fd))) {
		s->netns_short = true;
		close(fd);
		return 0;
	}
	s->netns[s->netns_count] = st.st_ino;
	s->netns_fds[s->netns_count++] = fd;
	return 0;
}

/* Namespaces of what a thread of the process forked, and of what that forked; one that has ended is left out. */
static void children_add(struct watch_subject *s, const char *pid, int generation)
{
	char path[96], child[16];
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	threads = generation < GENERATIONS_MOST ? opendir(path) : NULL;
	while (threads && (entry = readdir(threads))) {
		FILE *list;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/children", pid, entry->d_name);
		list = fopen(path, "re");
		while (list && fscanf(list, "%15s", child) == 1) {
			netns_add(s, child);
			children_add(s, child, generation + 1);
		}
		if (list)
			fclose(list);
	}
	if (threads)
		closedir(threads);
}

static int resolve_pids(struct watch_subject *s, char why[WHY_BYTES])
{
	for (int i = 0; i < s->pid_count; i++) {
		char pid[16];
		int err;

		snprintf(pid, sizeof(pid), "%d", (int)s->pids[i]);
		err = netns_add(s, pid);
		if (err == -ESRCH)
			return say(why, -ESRCH, "no process that runs has the number ", pid);
		if (err)
			return say(why, err, "cannot open the network namespace of process ", pid);
		if (s->by == WATCH_PIDS && !s->childless)
			children_add(s, pid, 0);
	}
	return 0;
}

/* Those of all processes, or of all with such a name; @named: NULL, or a flag for each name that some process has. One
 * that has ended, or is not ours to look at, is left out. */
static int resolve_processes(struct watch_subject *s, bool *named)
{
	DIR *proc = opendir("/proc");
	bool has[SUBJECT_COMMS] = {};
	struct dirent *entry;
	int err;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || (named && !process_is_called(entry->d_name, &s->named, has)))
			continue;
		err = netns_add(s, entry->d_name);
		s->netns_short |= err && err != -ESRCH;
		for (unsigned int i = 0; named && err != -ESRCH && i < s->named.comm_count; i++)
			named[i] |= has[i];
	}
	closedir(proc);
	return 0;
}

/* A name, a cgroup or a port may be found in any namespace; those of processes that have the name come first. */
static int resolve_everywhere(struct watch_subject *s, char why[WHY_BYTES])
{
	bool named[SUBJECT_COMMS] = {};
	char own[16];
	int err = 0;

	if (s->by == WATCH_COMM) {
		err = resolve_processes(s, named);
		for (unsigned int i = 0; i < s->named.comm_count && !err; i++)
			if (!named[i])
				return say_nobody(s->named.comms[i], why);
	}
	snprintf(own, sizeof(own), "%d", (int)getpid());
	netns_add(s, own);
	return err ? err : resolve_processes(s, NULL);
}

/* How many folders lie between the mount and this one. */
static int depth_below(const char *mount, const char *path)
{
	int depth = 0;

	for (const char *c = path + strlen(mount); *c; c++)
		depth += c[0] == '/' && c[1] && c[1] != '/';
	return depth;
}

/* The number of a cgroup is that of its folder's inode. */
static int add_cgroup(struct subject_names *names, const char *mount, const char *folder)
{
	char whole[4096];
	struct stat st;

	if (!realpath(folder, whole) || stat(whole, &st) || !S_ISDIR(st.st_mode) || strncmp(whole, mount, strlen(mount)))
		return -ENOENT;
	if (names->cgroup_count == SUBJECT_CGROUPS)
		return -E2BIG;
	names->cgroups[names->cgroup_count] = st.st_ino;
	names->cgroup_levels[names->cgroup_count++] = depth_below(mount, whole);
	return 0;
}

/* A * of a glob fits within one folder. What a process below it makes later is below it, too. */
static int resolve_cgroups(const struct watch_folders *folders, struct subject_names *names, char why[WHY_BYTES])
{
	char mount[WATCH_PATH_BYTES], path[2 * WATCH_PATH_BYTES];

	names->cgroup_count = 0;
	if (folders->count && !cgroup_mount(mount, sizeof(mount)))
		return say(why, -ENOENT, "no cgroup file system of version 2 is mounted", "");
	for (int i = 0; i < folders->count; i++) {
		const char *asked = folders->path[i];
		glob_t found;
		int err;

		snprintf(path, sizeof(path), "%s%s%s", strncmp(asked, mount, strlen(mount)) ? mount : "",
			 asked[0] == '/' ? "" : "/", asked);
		err = glob(path, GLOB_NOCHECK | GLOB_NOESCAPE | GLOB_ONLYDIR, NULL, &found) ? -ENOMEM : 0;
		for (size_t at = 0; !err && at < found.gl_pathc; at++)
			err = add_cgroup(names, mount, found.gl_pathv[at]);
		globfree(&found);
		if (err == -E2BIG)
			return say(why, err, "more than 64 cgroups are named: name one above them, in place of ", asked);
		if (err)
			return say(why, err, "no cgroup of version 2 is called ", asked);
	}
	return 0;
}

/* As many as there are descriptors for, besides those of the programs. */
static int namespaces_most(void)
{
	const rlim_t all = OTHER_DESCRIPTORS + DESCRIPTORS_EACH * WATCH_NAMESPACES_MAX;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	if (limit.rlim_cur < all) {
		limit.rlim_cur = limit.rlim_max < all ? limit.rlim_max : all;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= all)
		return WATCH_NAMESPACES_MAX;
	return limit.rlim_cur > OTHER_DESCRIPTORS + DESCRIPTORS_EACH ?
		(limit.rlim_cur - OTHER_DESCRIPTORS) / DESCRIPTORS_EACH : 1;
}

int watch_subject_resolve(struct watch_subject *s, char why[WHY_BYTES])
{
	int err;

	s->netns_count = 0;
	s->netns_most = namespaces_most();
	err = resolve_cgroups(&s->folders, &s->named, why) ?: resolve_cgroups(&s->folders_left_out, &s->left_out, why);
	if (!err && (s->by == WATCH_PIDS || s->by == WATCH_NETNS))
		return resolve_pids(s, why);
	if (!err)
		err = resolve_everywhere(s, why);
	if (err && !*why)
		say(why, err, "cannot read /proc", "");
	return err;
}

void watch_subject_close(struct watch_subject *s)
{
	for (int i = 0; i < s->netns_count; i++)
		close(s->netns_fds[i]);
	s->netns_count = 0;
}

static int by_id(const void *a, const void *b)
{
	return numbers_order(((const struct watch_cgroup *)a)->id, ((const struct watch_cgroup *)b)->id);
}

static bool add(struct watch_cgroup **list, int *count, uint64_t id, const char *path)
{
	struct watch_cgroup *more = realloc(*list, (*count + 1) * sizeof(*more));

	if (!more)
		return false;
	*list = more;
	more[*count].id = id;
	snprintf(more[(*count)++].path, WATCH_PATH_BYTES, "%s", *path ? path : "/");
	return true;
}

int watch_cgroups_list(struct watch_cgroup **list)
{
	char mount[WATCH_PATH_BYTES], *roots[] = { mount, NULL };
	int count = 0;
	FTSENT *entry;
	FTS *walk;

	*list = NULL;
	if (!cgroup_mount(mount, sizeof(mount)))
		return 0;
	/* Each cgroup has some twenty files, which are not looked at. */
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	while (walk && (entry = fts_read(walk))) {
		if (entry->fts_info != FTS_D)
			continue;
		if (!add(list, &count, entry->fts_ino, entry->fts_path + strlen(mount)))
			break;
		/* kernfs_refresh_inode(): two links, and one for each folder in it. */
		if (entry->fts_nlink == 2)
			fts_set(walk, entry, FTS_SKIP);
	}
	if (walk)
		fts_close(walk);
	if (count)
		qsort(*list, count, sizeof(**list), by_id);
	return count;
}
