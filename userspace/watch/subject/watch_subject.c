// SPDX-License-Identifier: GPL-2.0
/* Finds the cgroup and the network namespaces that a subject was named by. */
#include "userspace/watch/subject/watch_subject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/watch/subject/watch_cgroups.h"

static int say(char why[WHY_BYTES], int err, const char *what, const char *name)
{
	snprintf(why, WHY_BYTES, "%s%.120s", what, foreign(name));
	return err;
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

/* Notes the namespace of the process if it is a new one. */
static int netns_add(struct watch_subject *s, const char *pid)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	for (int i = 0; i < s->netns_count; i++)
		if (s->netns[i] == st.st_ino) {
			close(fd);
			return 0;
		}
	if (s->netns_count == WATCH_NAMESPACES_MAX || (!is_own(st.st_ino) && !can_enter(fd))) {
		s->netns_short = true;
		close(fd);
		return 0;
	}
	s->netns[s->netns_count] = st.st_ino;
	s->netns_fds[s->netns_count++] = fd;
	return 0;
}

static int resolve_pids(struct watch_subject *s, char why[WHY_BYTES])
{
	for (int i = 0; i < s->pid_count; i++) {
		char pid[16];
		int err;

		snprintf(pid, sizeof(pid), "%d", (int)s->pids[i]);
		err = netns_add(s, pid);
		if (err == -ENOENT)
			return say(why, -ESRCH, "no process has the number ", pid);
		if (err)
			return say(why, err, "cannot open the network namespace of process ", pid);
	}
	return 0;
}

/* Whether the process has the name that a watch is of. */
static bool is_called(const char *pid, const char *comm)
{
	char path[64], name[64] = "";
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* It may hold any byte; a newline ends it. */
	bytes = fread(name, 1, sizeof(name) - 1, file);
	if (bytes)
		name[bytes - 1] = '\0';
	fclose(file);
	return !strcmp(name, comm);
}

/* Those of all processes: a name, a cgroup or a port may be found in any. One that ends meanwhile, or
 * is not ours to look at, is left out. */
static int resolve_everywhere(struct watch_subject *s, char why[WHY_BYTES])
{
	bool found = s->by != WATCH_COMM;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return -errno;
	netns_add(s, "self");
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		s->netns_short |= netns_add(s, entry->d_name) == -EACCES;
		found = found || is_called(entry->d_name, s->comm);
	}
	closedir(proc);
	return found ? 0 : say(why, -ESRCH, "no process is called ", s->comm);
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
static int resolve_cgroup(struct watch_subject *s, char why[WHY_BYTES])
{
	char mount[WATCH_PATH_BYTES], path[2 * WATCH_PATH_BYTES], whole[4096];
	struct stat st;

	if (!watch_cgroup_mount(mount))
		return say(why, -ENOENT, "no cgroup file system of version 2 is mounted", "");
	snprintf(path, sizeof(path), "%s%s%s", strncmp(s->cgroup, mount, strlen(mount)) ? mount : "",
		 s->cgroup[0] == '/' ? "" : "/", s->cgroup);
	if (!realpath(path, whole) || stat(whole, &st) || !S_ISDIR(st.st_mode) ||
	    strncmp(whole, mount, strlen(mount)))
		return say(why, -ENOENT, "no cgroup of version 2 is called ", s->cgroup);
	s->cgroup_id = st.st_ino;
	s->cgroup_level = depth_below(mount, whole);
	return 0;
}

int watch_subject_resolve(struct watch_subject *s, char why[WHY_BYTES])
{
	int err = 0;

	s->netns_count = 0;
	if (s->by == WATCH_CGROUP)
		err = resolve_cgroup(s, why);
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
