// SPDX-License-Identifier: GPL-2.0
/* Makes a memory control group by cgroup v1 or v2, with a janitor that outlives the pass. */
#include "studies/baseline/lab/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "studies/baseline/bench/work.h"
#include "userspace/common/system/global_tgid.h"

#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"

enum { JANITOR_TRIES = 500, JANITOR_NAP_US = 10000 };

static int write_text(const char *folder, const char *file, const char *text)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* v2 gives a child the memory controller only if its parent says so. */
static bool v2_has_memory(void)
{
	FILE *file = fopen(V2 "/cgroup.subtree_control", "re");
	char line[256] = "";

	if (file && !fgets(line, sizeof(line), file))
		*line = '\0';
	if (file)
		fclose(file);
	return strstr(line, "memory") != NULL;
}

/*
 * Forks a process that removes the group. It has a session of its own, so that whoever kills the pass
 * does not kill it. It wakes when the last process that holds the pipe's other end has ended.
 */
static int start_janitor(struct cgroup *g)
{
	int alive[2];
	pid_t pid;

	if (pipe2(alive, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		char byte;

		setsid();
		prctl(PR_SET_NAME, "baseline-tidy");
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		/* A reader of the run's output would wait for its end. */
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		close(alive[1]);
		while (read(alive[0], &byte, 1) < 0 && errno == EINTR)
			;
		for (int i = 0; i < JANITOR_TRIES && rmdir(g->path) && errno == EBUSY; i++)
			usleep(JANITOR_NAP_US);
		_exit(0);
	}
	close(alive[0]);
	g->alive = alive[1];
	return 0;
}

int cgroup_enter(struct work *w, struct cgroup *g, uint64_t bytes)
{
	bool v1 = !access(V1 "/memory.limit_in_bytes", F_OK);
	char limit[32];
	int err;

	g->alive = -1;
	if (!v1 && !v2_has_memory())
		return work_fail(w, 0, "no memory control groups here, and filling all memory would "
				 "drop the caches of everybody");
	snprintf(g->home, sizeof(g->home), "%s", v1 ? V1 : V2);
	snprintf(g->path, sizeof(g->path), "%s/copyscope-baseline-%u", g->home, run_number());
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)bytes);
	if (mkdir(g->path, 0755)) {
		err = errno;
		*g->path = '\0';
		return work_fail(w, err, "cannot make a memory control group in %s", g->home);
	}
	err = start_janitor(g);
	if (!err)
		err = write_text(g->path, v1 ? "memory.limit_in_bytes" : "memory.max", limit);
	if (!err)
		err = write_text(g->path, "cgroup.procs", "0");
	return err ? work_fail(w, -err, "cannot use the memory control group %s", g->path) : 0;
}

void cgroup_leave(struct cgroup *g)
{
	if (!*g->path)
		return;
	write_text(g->home, "cgroup.procs", "0");
	rmdir(g->path);
	if (g->alive >= 0)
		close(g->alive);
}
