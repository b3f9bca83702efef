// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/stat and the run time of the softirq threads. */
#include "userspace/common/system/cpu_time.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_softirq_thread(const char *pid)
{
	char path[64], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(comm, sizeof(comm), file))
		*comm = '\0';
	fclose(file);
	if (strncmp(comm, "ksoftirqd/", 10))
		return false;
	/* Any program may take this name, but no program is a kernel thread: these have no exe. */
	snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
	return readlink(path, comm, sizeof(comm)) < 0;
}

/* The first number of schedstat is the time on a CPU in nanoseconds (Documentation/scheduler). */
static int open_thread(const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/schedstat", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void cpu_clocks_open(struct cpu_clocks *clocks)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	*clocks = (struct cpu_clocks){ .opened = true };
	clocks->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	while (proc && (entry = readdir(proc))) {
		int *more;

		if (!isdigit((unsigned char)*entry->d_name) || !is_softirq_thread(entry->d_name))
			continue;
		more = realloc(clocks->thread, (clocks->count + 1) * sizeof(*more));
		if (!more)
			break;
		clocks->thread = more;
		clocks->thread[clocks->count++] = open_thread(entry->d_name);
	}
	if (proc)
		closedir(proc);
}

void cpu_clocks_close(struct cpu_clocks *clocks)
{
	for (int i = 0; i < clocks->count; i++)
		if (clocks->thread[i] >= 0)
			close(clocks->thread[i]);
	if (clocks->opened && clocks->stat >= 0)
		close(clocks->stat);
	free(clocks->thread);
	*clocks = (struct cpu_clocks){};
}

static bool read_text(int file, char *text, size_t size)
{
	ssize_t got = file >= 0 ? pread(file, text, size - 1, 0) : -1;

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* user nice system idle iowait irq softirq steal; guest time is part of user. */
static bool read_stat(int file, struct cpu_time *t)
{
	enum { IDLE = 3, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
	uint64_t tick_ns = UINT64_C(1000000000) / sysconf(_SC_CLK_TCK), v[FIELDS];
	char line[512];

	if (!read_text(file, line, sizeof(line)) ||
	    sscanf(line, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64, &v[0], &v[1], &v[2], &v[IDLE], &v[IOWAIT], &v[IRQ],
		   &v[SOFTIRQ], &v[STEAL]) != FIELDS)
		return false;
	for (int i = 0; i < FIELDS; i++) {
		t->all_ns += v[i] * tick_ns;
		if (i != IDLE && i != IOWAIT && i != STEAL)
			t->busy_ns += v[i] * tick_ns;
	}
	t->stolen_ns = v[STEAL] * tick_ns;
	return true;
}

struct cpu_time cpu_time_read(const struct cpu_clocks *clocks)
{
	struct cpu_time t = { .threads_known = clocks->count > 0 };

	t.known = read_stat(clocks->stat, &t);
	for (int i = 0; i < clocks->count; i++) {
		char text[128];
		uint64_t ns = 0;

		t.threads_known = t.threads_known &&
				  read_text(clocks->thread[i], text, sizeof(text)) &&
				  sscanf(text, "%" SCNu64, &ns) == 1;
		t.softirq_threads_ns += ns;
	}
	return t;
}

const char *cpu_doubt_text(enum cpu_doubt doubt)
{
	static const char *const texts[CPU_DOUBTS] = {
		[CPU_NO_STAT] = "/proc/stat cannot be read",
		[CPU_NO_TICK] = "the run was shorter than a tick of the kernel's clock",
		[CPU_TWO_HOSTS] = "the ends ran on two hosts",
		[CPU_HIDDEN_THREADS] = "the kernel's softirq threads are hidden here: their time is part of it",
	};

	return texts[doubt] ? texts[doubt] : "";
}

static double limited(double share)
{
	return share <= 0 ? 0 : share >= 1 ? 1 : share;
}

struct cpu_shares cpu_shares_between(const struct cpu_time *from, const struct cpu_time *to,
				     int64_t measured_ns)
{
	struct cpu_shares shares = {};
	double all_ns, others_ns;

	if (!from->known || !to->known)
		shares.doubt = CPU_NO_STAT;
	else if (to->all_ns <= from->all_ns)
		shares.doubt = CPU_NO_TICK;
	else
		shares.known = true;
	if (!shares.known)
		return shares;
	all_ns = to->all_ns - from->all_ns;
	others_ns = (double)(to->busy_ns - from->busy_ns) - measured_ns;
	if (from->threads_known && to->threads_known)
		others_ns -= to->softirq_threads_ns - from->softirq_threads_ns;
	else
		shares.doubt = CPU_HIDDEN_THREADS;
	/* Ticks are samples: they may come to less than the exact clocks of the processes. */
	shares.others = limited(others_ns / all_ns);
	shares.stolen = limited((to->stolen_ns - from->stolen_ns) / all_ns);
	return shares;
}
