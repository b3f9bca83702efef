// SPDX-License-Identifier: GPL-2.0
/* Starts, releases and collects the two ends of the workload. */
#include "userspace/run/ends/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"
#include "userspace/common/system/process_numbers.h"
#include "userspace/run/ends/ending.h"

enum { ARGS_MAX = 40, CHILD_READY = 3, CHILD_GO = 4, TICK_MS = 100 };
/* Totals have some 1,500 bytes for each of 1,024 connections; their parser takes some 30 for each byte. */
enum { TOTALS_BYTES_MAX = 4 << 20 };
/* From its start until it listens, or could connect. */
enum { READY_MS = 30000, SLICE_MS = 100 };

static void child_fail(const char *what)
{
	fprintf(stderr, "trace_run: cannot start the workload: %s: %s\n", what, strerror(errno));
	_exit(127);
}

/* Outside of the first PID namespace fork() gives the parent another number. */
static void tell_tgid(int ready)
{
	int64_t answer = global_tgid();
	uint32_t tgid = answer > 0 ? answer : 0;

	if (write(ready, &tgid, sizeof(tgid)) != sizeof(tgid))
		child_fail("passing on its process number");
}

static void child_exec(const char *const *argv, int ready, int go, int out, pid_t parent,
		       uint64_t memlock_bytes)
{
	int program;
	const char *args[ARGS_MAX];
	int n = 0;

	/* Until it executes, the handlers that end the run in order would keep it from being
	 * ended. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	tell_tgid(ready);
	program = open(argv[0], O_RDONLY | O_CLOEXEC);
	if (program < 0)
		child_fail(argv[0]);
	while (argv[n] && n < ARGS_MAX - 6) {
		args[n] = argv[n];
		n++;
	}
	args[n++] = "--ready-fd";
	args[n++] = "3";
	args[n++] = "--go-fd";
	args[n++] = "4";
	args[n] = NULL;

	/* Move the program's descriptor away from the fixed numbers first. */
	program = fcntl(program, F_DUPFD_CLOEXEC, 10);
	out = fcntl(out, F_DUPFD_CLOEXEC, 10);
	ready = fcntl(ready, F_DUPFD_CLOEXEC, 10);
	go = fcntl(go, F_DUPFD_CLOEXEC, 10);
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(ready, CHILD_READY);
	dup2(go, CHILD_GO);

	/* A session of its own: Ctrl-C is for the tool, which stops the workload in order. */
	setsid();
	if (memlock_bytes && setrlimit(RLIMIT_MEMLOCK,
				       &(struct rlimit){ memlock_bytes, memlock_bytes }))
		child_fail("RLIMIT_MEMLOCK");
	errno = -confine_descriptors((int[]){ 0, 1, 2, CHILD_READY, CHILD_GO, program }, 6);
	if (errno)
		child_fail("closing descriptors");
	errno = -confine_for_good();
	if (errno)
		child_fail("becoming another user");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	/* By descriptor: that user may be unable to enter its folder. */
	fexecve(program, (char *const *)args, (char *const[]){ "LC_ALL=C", NULL });
	child_fail(argv[0]);
}

static uint32_t own_netns(void)
{
	struct stat status;

	return stat("/proc/self/ns/net", &status) ? 0 : status.st_ino;
}

/* As read(2), but no longer than a start can take, and not after a signal. */
static ssize_t read_in_time(int fd, void *to, size_t size)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	for (int ms = 0; ms < READY_MS && !ending_asked(); ms += SLICE_MS)
		if (poll(&wait, 1, SLICE_MS) == 1)
			return read(fd, to, size);
	if (ending_asked())
		return -1;
	fprintf(stderr, "trace_run: the workload printed nothing for %d s: is it stopped?\n",
		READY_MS / 1000);
	return -1;
}

/*
 * Forks and executes @argv (argv[0] is the program's path) in the current network namespace as the user of
 * confine.h, who may lock @memlock_bytes (0: as many as the tool). "--ready-fd N --go-fd N" are added to the
 * arguments. 0 or -errno.
 */
static int child_launch(struct child *c, const char *const *argv, uint64_t memlock_bytes)
{
	int ready[2], go[2], out[2];
	pid_t parent = getpid();
	ssize_t told;

	*c = (struct child){ .ready = -1, .go = -1, .out = -1 };
	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid)
		child_exec(argv, ready[1], go[0], out[1], parent, memlock_bytes);
	/* Done now: a process that measures may not make this call. */
	clock_getcpuclockid(c->pid, &c->clock);
	close(ready[1]);
	close(go[0]);
	close(out[1]);
	c->ready = ready[0];
	c->go = go[1];
	c->out = out[0];
	c->netns = own_netns();
	told = read_in_time(c->ready, &c->tgid, sizeof(c->tgid));
	return told == sizeof(c->tgid) ? 0 : -EPIPE;
}

int child_wait_ready(struct child *c)
{
	char line[64];

	return read_in_time(c->ready, line, sizeof(line)) > 0 ? 0 : -EPIPE;
}

int child_release(struct child *c)
{
	struct timespec used = {};

	clock_gettime(c->clock, &used);
	c->prepared_ns = used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
	signal(SIGPIPE, SIG_IGN);
	return write(c->go, "g", 1) == 1 ? 0 : -errno;
}

/* Reads what is there; at the end of the output only the process itself is left to wait for. */
static void child_read(struct child *c)
{
	char *grown = c->length < TOTALS_BYTES_MAX ? realloc(c->text, c->length + 65537) : NULL;
	ssize_t n = -1;

	if (grown) {
		c->text = grown;
		n = read(c->out, c->text + c->length, 65536);
	}
	if (n < 0 && errno == EINTR)
		return;
	if (n > 0) {
		c->length += n;
		c->text[c->length] = '\0';
		return;
	}
	close(c->out);
	c->out = -1;
}

static int64_t timeval_ns(struct timeval t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_usec * INT64_C(1000);
}

/* Never waits: a process that closed its output may still run for a while. */
static void child_reap(struct child *c)
{
	struct rusage used;

	if (!c->pid || c->ended || c->out >= 0)
		return;
	c->ended = wait4(c->pid, &c->status, WNOHANG, &used) == c->pid;
	if (c->ended)
		c->used_ns = timeval_ns(used.ru_utime) + timeval_ns(used.ru_stime) - c->prepared_ns;
}

void children_collect(struct child *children, int count, void (*tick)(void *), void *arg)
{
	struct pollfd fds[END_COUNT];

	for (;;) {
		int running = 0, tick_ms = TICK_MS;

		for (int i = 0; i < count; i++) {
			struct child *c = &children[i];
			bool runs = c->pid && !c->ended;

			fds[i] = (struct pollfd){ .fd = runs ? c->out : -1, .events = POLLIN };
			running += runs;
			if (runs && c->out < 0)
				tick_ms = 1;
		}
		if (!running)
			return;
		poll(fds, count, tick_ms);
		for (int i = 0; i < count; i++) {
			if (fds[i].fd >= 0 && fds[i].revents)
				child_read(&children[i]);
			child_reap(&children[i]);
		}
		ending_step(children, count);
		tick(arg);
	}
}

void child_end(struct child *c)
{
	if (c->pid > 0 && !c->ended) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &c->status, 0);
	}
	if (c->pid > 0) {
		close(c->ready);
		close(c->go);
		if (c->out >= 0)
			close(c->out);
	}
	free(c->text);
	*c = (struct child){};
}

/* Turns the plan of a run into the command lines of the workload's two ends. */

/* RLIMIT_MEMLOCK of both ends; 0: as it is. What the sender registers takes room from what is in flight, so that many
 * bytes are added where nobody asked for a limit and this process may raise it (CAP_SYS_RESOURCE). */
static uint64_t memlock_bytes(const struct workload_plan *plan)
{
	uint64_t registered = plan_registered_bytes(plan, sysconf(_SC_PAGESIZE)), raised;
	struct rlimit before;

	if (plan->memlock_bytes || !registered || getrlimit(RLIMIT_MEMLOCK, &before) ||
	    before.rlim_cur == RLIM_INFINITY)
		return plan->memlock_bytes;
	raised = before.rlim_cur + registered;
	if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ raised, raised }))
		return 0;
	/* The child sets it again, for itself. */
	return setrlimit(RLIMIT_MEMLOCK, &before) ? 0 : raised;
}

/* How long nothing may move at all. TCP itself may pause for longer when each packet is lost. */
#define PATIENCE_S "30"

/* The words that tell either end of ways that alternate. */
static void list_ways(const struct workload_plan *plan, char *variants, size_t variants_size, char *receivers,
		      size_t receivers_size)
{
	struct way_names way;
	size_t used[2] = {};

	for (int i = 0; plan_way(plan, i, &way); i++) {
		used[0] += snprintf(variants + used[0], variants_size - used[0], "%s%s", i ? "," : "--alternate=",
				    way.variant);
		used[1] += snprintf(receivers + used[1], receivers_size - used[1], "%s%s", i ? "," : "--in-blocks=",
				    way.receiver);
	}
}

int ends_launch(struct child children[END_COUNT], const char *workload,
		const struct workload_plan *plan, const struct path *path)
{
	char senders[24] = "--json", listeners[24] = "--json", cpus[END_COUNT][280] = { "--json", "--json" };
	char bytes[24], threads[24], readers[24], port[24], amount[40], variants[320], receivers[192], block[24],
		answer[40] = "--json", piece[40] = "--json";
	const char *check = plan->unchecked ? "none" : "content";
	struct behaviour_names behaviours = plan_behaviours(plan);
	const char *how_long = plan->messages ? "--messages" : "--seconds";
	/* Only the end that decides when to stop gets the limit: the client in rr, else the
	 * server. */
	bool client_decides = !strcmp(plan->pattern, "rr");
	const char *fault = plan->count_fin ? "--count-fin" : "--json";
	const char *carrier = plan_sends_datagrams(plan) ? "--datagrams" : "--json";
	const char *marker = plan->modelled ? "--guest-marker" : "--json";
	bool alternates = *plan->alternate;
	const char *server[] = { workload, "server", alternates ? variants : plan->variant, bytes, "--json", fault, marker,
				 alternates ? block : "--json", answer, piece, senders, listeners, cpus[END_SENDER],
				 "--patience", PATIENCE_S,
				 "--listen", path->address, "--port", port, "--pattern", plan->pattern,
				 "--check", check, "--behaviours", behaviours.text, "--clients", threads, how_long, amount,
				 *path->from ? "--from" : NULL, path->from, NULL };
	const char *client[] = { workload, "client", bytes, threads, "--json", fault, marker, carrier,
				 alternates ? receivers : "--json", cpus[END_RECEIVER],
				 "--patience", PATIENCE_S,
				 "--connect", path->address, "--port", port, "--pattern", plan->pattern,
				 "--check", check, "--behaviours", behaviours.text,
				 plan->readers ? "--readers" : "--receiver",
				 plan->readers ? readers : plan->receiver,
				 client_decides ? how_long : NULL, amount, NULL };
	const char *const *argv[] = { server, client };
	int err = 0;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)plan->bytes);
	snprintf(port, sizeof(port), "%d", path->port);
	snprintf(threads, sizeof(threads), "%d", plan->threads);
	snprintf(readers, sizeof(readers), "%d", plan->readers);
	list_ways(plan, variants, sizeof(variants), receivers, sizeof(receivers));
	snprintf(block, sizeof(block), "--block=%d", plan->block_ms);
	if (plan->answer_every)
		snprintf(answer, sizeof(answer), "--answer-every=%llu", (unsigned long long)plan->answer_every);
	if (plan->piece_bytes)
		snprintf(piece, sizeof(piece), "--piece=%llu", (unsigned long long)plan->piece_bytes);
	if (plan->senders)
		snprintf(senders, sizeof(senders), "--senders=%d", plan->senders);
	if (plan->listeners)
		snprintf(listeners, sizeof(listeners), "--listeners=%d", plan->listeners);
	for (int e = 0; e < END_COUNT; e++)
		if (*plan->cpus[e])
			snprintf(cpus[e], sizeof(cpus[e]), "--cpus=%s", plan->cpus[e]);
	if (plan->messages)
		snprintf(amount, sizeof(amount), "%llu", (unsigned long long)plan->messages);
	else
		snprintf(amount, sizeof(amount), "%.9f", plan->seconds);
	for (int e = 0; e < END_COUNT && !err; e++) {
		if (path->ns[e] < 0)
			continue;
		err = path_enter(path, e);
		if (!err)
			err = child_launch(&children[e], argv[e], memlock_bytes(plan));
		children[e].decides = client_decides == (e == END_RECEIVER);
	}
	path_leave(path);
	if (err && !ending_asked())
		fprintf(stderr, "trace_run: cannot start the workload: %s\n", strerror(-err));
	return err;
}
