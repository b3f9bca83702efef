// SPDX-License-Identifier: GPL-2.0
/* Stacks of calls while a watch runs, and the process that keeps the right to look at their programs. */
#include "userspace/watch/program_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/numbers.h"
#include "userspace/common/system/confine.h"
#include "userspace/watch/books/watch_cpu.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/elf_file.h"
#include "userspace/watch/stack_names.h"

/* A file may be made to keep a parser busy for ever. */
enum { NAMING_CPU_S = NAMING_MS / 1000, NAMING_BYTES = 1 << 30, END_MS = 1000, WAIT_MS = 60000, REST_NS = 2000000 };
enum { ASK_MS = 1000 };
enum { STACKS_MOST = 1 << 16, MODULES_MOST = 1 << 16, FRAMES_MOST = 1 << 20, PLACES_MOST = 1 << 23 };

struct request {
	uint32_t tgid;		/* 0: stacks follow, to be named */
	uint32_t count;		/* of these */
	uint64_t started_ns;
};

/* What follows: modules, frames, places, and of each stack a struct part. */
struct reply {
	int32_t err;
	uint32_t modules, frames, places;
};

struct part {
	uint32_t end, first, count;
};

/* To change user and to let go of all rights, for the process that parses. */
static const uint64_t powers = 1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_CHECKPOINT_RESTORE |
			       1ull << CAP_SETUID | 1ull << CAP_SETGID | 1ull << CAP_SETPCAP;

/* Both ends by one deadline: each may be slow, or gone. */
static int move_all(int fd, void *bytes, size_t count, bool out, int64_t deadline_ms)
{
	for (size_t done = 0; done < count;) {
		struct pollfd ready = { .fd = fd, .events = out ? POLLOUT : POLLIN };
		int64_t left = deadline_ms - monotonic_ms();
		int got = poll(&ready, 1, left < 0 ? 0 : left < WAIT_MS ? left : WAIT_MS);
		ssize_t moved;

		if ((got < 0 && errno == EINTR) || (!got && left > 0))
			continue;
		if (got <= 0)
			return got ? -errno : -ETIMEDOUT;
		moved = out ? write(fd, (char *)bytes + done, count - done) : read(fd, (char *)bytes + done, count - done);
		if (!moved)
			return -EPIPE;
		if (moved < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		done += moved > 0 ? moved : 0;
	}
	return 0;
}

static int64_t in_ms(int64_t ms)
{
	return monotonic_ms() + ms;
}

static void send_named(int to, const struct user_stacks *all, int err)
{
	struct reply reply = { err, all->module_count, all->frame_count, all->place_count };
	int64_t deadline = in_ms(NAMING_MS);

	if (move_all(to, &reply, sizeof(reply), true, deadline) || err ||
	    move_all(to, all->modules, all->module_count * sizeof(*all->modules), true, deadline) ||
	    move_all(to, all->frames, all->frame_count * sizeof(*all->frames), true, deadline) ||
	    move_all(to, all->places, all->place_count * sizeof(*all->places), true, deadline))
		return;
	for (int i = 0; i < all->stack_count; i++) {
		struct part part = { all->stacks[i].end, all->stacks[i].first, all->stacks[i].count };

		if (move_all(to, &part, sizeof(part), true, deadline))
			return;
	}
}

/* Who parses has the files that were opened, and no right to open any. */
static void confine_parser(void)
{
	setrlimit(RLIMIT_CPU, &(struct rlimit){ NAMING_CPU_S, NAMING_CPU_S });
	setrlimit(RLIMIT_AS, &(struct rlimit){ NAMING_BYTES, NAMING_BYTES });
	prctl(PR_SET_NAME, "stack-names");
	/* Ends it also while it waits for a file. */
	alarm(NAMING_MS / 1000);
	if (confine_for_good() || confine_syscalls(CONFINE_MEASURE))
		_exit(1);
}

static void wait_for(pid_t pid, int *status)
{
	while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* Files whose symbols that were stripped off are to be found by their build-id. */
static void __attribute__((noreturn)) identify(const struct program_maps *maps, int to)
{
	confine_parser();
	for (int i = 0; i < maps->file_count; i++) {
		const struct code_file *file = &maps->files[i];
		struct stack_module module = {};
		struct elf_file *elf = file->fd >= 0 && !file->apart_sought ? elf_file_open(file->fd) : NULL;

		if (elf)
			elf_file_identify(elf, &module);
		elf_file_close(elf);
		if (move_all(to, &module, sizeof(module), true, in_ms(NAMING_MS)))
			_exit(1);
	}
	_exit(0);
}

/* A build-id is no more than a name that this process looks up: whatever is said, no other file is opened. */
static void find_symbols(struct program_maps *maps)
{
	int64_t deadline = in_ms(NAMING_MS);
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		identify(maps, ends[1]);
	close(ends[1]);
	for (int i = 0; i < maps->file_count && pid > 0; i++) {
		struct stack_module module;

		if (move_all(ends[0], &module, sizeof(module), false, deadline))
			break;
		if (!maps->files[i].apart_sought)
			program_maps_open_apart(&maps->files[i], module.build_id, module.build_id_bytes);
	}
	close(ends[0]);
	wait_for(pid, &status);
}

static void __attribute__((noreturn)) name(const struct program_maps *maps, const struct user_stack *stacks, int count, int to)
{
	struct user_stacks all = { .stacks = calloc(count + 1, sizeof(*all.stacks)), .stack_count = count };
	int err = all.stacks ? 0 : -ENOMEM;

	confine_parser();
	if (!err)
		err = stack_names_fill(maps, stacks, &all);
	send_named(to, &all, err);
	_exit(0);
}

static void serve_names(struct program_maps *maps, int count, int from, int to)
{
	struct user_stack *stacks = count <= STACKS_MOST ? calloc(count + 1, sizeof(*stacks)) : NULL;
	int status = 0;
	pid_t pid;

	if (!stacks || move_all(from, stacks, count * sizeof(*stacks), false, in_ms(NAMING_MS)))
		_exit(1);
	program_maps_refresh(maps);
	find_symbols(maps);
	pid = fork();
	if (!pid)
		name(maps, stacks, count, to);
	wait_for(pid, &status);
	free(stacks);
	/* What it said may stop anywhere: the end of the pipe tells. */
	if (pid < 0 || status)
		_exit(1);
}

/* Meanwhile what ended is let go. False at the end of the watch. */
static bool next_request(int from, struct request *request, struct program_maps *maps, int64_t *ask_ms)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	int64_t left;

	do {
		left = *ask_ms - monotonic_ms();
		if (left <= 0) {
			program_maps_let_go(maps);
			*ask_ms = in_ms(ASK_MS);
			left = ASK_MS;
		}
	} while (!poll(&ready, 1, left));
	return !move_all(from, request, sizeof(*request), false, INT64_MAX);
}

/* The watch may signal no process of root's, and a file may hold the other thread up: the end of a process ends that, too. */
static void *end_with_watch(void *from)
{
	struct pollfd end = { .fd = *(int *)from };

	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	sleep_ns(END_MS * NS_PER_MS);
	_exit(0);
}

/* Signals of a terminal are for the watch, which tells when it ends. */
static void __attribute__((noreturn)) serve(int from, int to)
{
	struct program_maps maps = {};
	int keep[] = { from, to };
	struct request request;
	int64_t ask_ms = in_ms(ASK_MS);
	pthread_t ending;

	prctl(PR_SET_NAME, "program-reader");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (confine_descriptors(keep, 2) || confine_root_but(powers) || pthread_create(&ending, NULL, end_with_watch, &from))
		_exit(1);
	while (next_request(from, &request, &maps, &ask_ms)) {
		if (request.tgid)
			program_maps_look(&maps, request.tgid, request.started_ns);
		else
			serve_names(&maps, request.count, from, to);
	}
	_exit(0);
}

static int reader_start(struct kept_stacks *s)
{
	int there[2], back[2], err;

	if (pipe2(there, O_CLOEXEC))
		return -errno;
	if (pipe2(back, O_CLOEXEC)) {
		err = -errno;
		close(there[0]);
		close(there[1]);
		return err;
	}
	s->reader = fork();
	if (!s->reader)
		serve(there[0], back[1]);
	err = s->reader < 0 ? -errno : 0;
	close(there[0]);
	close(back[1]);
	s->to = there[1];
	s->from = back[0];
	fcntl(s->to, F_SETFL, O_NONBLOCK);
	if (err)
		s->reader = 0;
	return err;
}

int stacks_keep(struct kept_stacks *s, struct engine *engine, bool of_calls, bool of_clock, bool looks,
		char why[WHY_BYTES])
{
	int err = looks ? reader_start(s) : 0;

	if (err)
		snprintf(why, WHY_BYTES, "cannot start the process that reads programs: %s", strerror(-err));
	if (err)
		return err;
	s->engine = of_calls || of_clock ? engine : NULL;
	s->of_calls = of_calls;
	if (of_calls)
		engine_stacks_gate(engine, true);
	return 0;
}

/* A request is shorter than what a pipe takes in one piece. A reader that is held up looks when there is a newer one. */
static void look(void *arg, const struct stack_task *task)
{
	const struct request request = { .tgid = task->tgid, .started_ns = task->started_ns };
	const struct kept_stacks *s = arg;

	if (write(s->to, &request, sizeof(request)) < 0)
		return;
}

void stacks_look(const struct kept_stacks *s)
{
	if (s->reader)
		engine_stacks_new(s->engine, look, (void *)s);
}

/* Programs that run now have passed the gate. */
void stacks_end(const struct kept_stacks *s)
{
	if (!s->engine)
		return;
	engine_stacks_gate(s->engine, false);
	sleep_ns(REST_NS);
	stacks_look(s);
}

static bool is_sound(const struct user_stacks *all)
{
	for (int i = 0; i < all->frame_count; i++)
		if (all->frames[i].module != NO_MODULE && all->frames[i].module >= (uint32_t)all->module_count)
			return false;
	for (int i = 0; i < all->place_count; i++)
		if (all->places[i] >= (uint32_t)all->frame_count)
			return false;
	return true;
}

static int parts_read(int from, struct user_stacks *out, int64_t deadline)
{
	for (int i = 0; i < out->stack_count; i++) {
		struct part part;
		int err = move_all(from, &part, sizeof(part), false, deadline);

		if (err)
			return err;
		if (part.first > (uint32_t)out->place_count || part.count > out->place_count - part.first ||
		    part.end > STACK_OF_RING)
			return -EBADMSG;
		out->stacks[i].first = part.first;
		out->stacks[i].count = part.count;
		out->stacks[i].end = part.end;
	}
	return 0;
}

/* Who names may have been taken over by a file: nothing is taken as it comes. */
static int reply_read(int from, struct user_stacks *out, int64_t deadline)
{
	struct reply reply;
	int err = move_all(from, &reply, sizeof(reply), false, deadline);

	if (err || reply.err)
		return err ? err : -ENOMEM;
	if (reply.modules > MODULES_MOST || reply.frames > FRAMES_MOST || reply.places > PLACES_MOST)
		return -EBADMSG;
	out->modules = calloc(reply.modules + 1, sizeof(*out->modules));
	out->frames = calloc(reply.frames + 1, sizeof(*out->frames));
	out->places = calloc(reply.places + 1, sizeof(*out->places));
	if (!out->modules || !out->frames || !out->places)
		return -ENOMEM;
	err = move_all(from, out->modules, reply.modules * sizeof(*out->modules), false, deadline);
	if (!err)
		err = move_all(from, out->frames, reply.frames * sizeof(*out->frames), false, deadline);
	if (!err)
		err = move_all(from, out->places, reply.places * sizeof(*out->places), false, deadline);
	if (err)
		return err;
	out->module_count = reply.modules;
	out->frame_count = reply.frames;
	out->place_count = reply.places;
	for (int i = 0; i < out->module_count; i++) {
		out->modules[i].path[STACK_PATH_BYTES - 1] = '\0';
		if (out->modules[i].build_id_bytes > BUILD_ID_BYTES)
			return -EBADMSG;
	}
	for (int i = 0; i < out->frame_count; i++)
		out->frames[i].function[STACK_FUNCTION_BYTES - 1] = '\0';
	err = parts_read(from, out, deadline);
	return err ? err : is_sound(out) ? 0 : -EBADMSG;
}

static void forget_names(struct user_stacks *out)
{
	free(out->modules);
	free(out->frames);
	free(out->places);
	out->modules = NULL;
	out->frames = NULL;
	out->places = NULL;
	out->module_count = out->frame_count = out->place_count = 0;
	for (int i = 0; i < out->stack_count; i++) {
		out->stacks[i].first = out->stacks[i].count = 0;
		out->stacks[i].end = STACK_UNREAD;
	}
}

/* One for all that a window asks. */
static int64_t naming_deadline(struct kept_stacks *s)
{
	if (!s->named_by_ms)
		s->named_by_ms = in_ms(NAMING_MS);
	return s->named_by_ms;
}

/* What it says after it failed may be of before. */
static int ask_names(struct kept_stacks *s, struct user_stack *raw, struct user_stacks *out)
{
	struct request request = { .count = out->stack_count };
	int64_t deadline = naming_deadline(s);
	int err = s->failure;

	if (!err)
		err = move_all(s->to, &request, sizeof(request), true, deadline);
	if (!err)
		err = move_all(s->to, raw, out->stack_count * sizeof(*raw), true, deadline);
	if (!err)
		err = reply_read(s->from, out, deadline);
	return s->failure = err;
}

static int name_all(struct kept_stacks *s, struct user_stack *raw, struct user_stacks *out)
{
	int err = ask_names(s, raw, out);

	if (!err)
		return 0;
	forget_names(out);
	if (err == -ETIMEDOUT)
		snprintf(out->why, sizeof(out->why), "reading the programs took longer than %d s, as where a file system "
			 "hangs", NAMING_MS / 1000);
	else
		snprintf(out->why, sizeof(out->why), "the process that reads programs failed: %s", strerror(-err));
	return stack_addresses_fill(raw, out);
}

int stacks_read(struct kept_stacks *s, struct watch_record *r)
{
	struct user_stack *raw = NULL;
	int err;

	r->stacks_asked = s->of_calls;
	r->stack_every = s->every;
	if (!s->of_calls)
		return 0;
	err = engine_user_stacks(s->engine, &raw, &r->stacks);
	if (!err && r->stacks.stack_count)
		err = name_all(s, raw, &r->stacks);
	free(raw);
	if (!err)
		watch_stacks_weigh(r);
	return err;
}

static int by_process(const void *a, const void *b)
{
	return numbers_order(((const struct cpu_stack *)a)->tgid, ((const struct cpu_stack *)b)->tgid);
}

/* 0: the record does not have it. */
static uint64_t started_of(const struct watch_record *r, uint32_t tgid)
{
	for (int i = 0; i < r->process_count; i++)
		if (r->processes[i].id.pid == tgid)
			return r->processes[i].id.started_ns;
	return 0;
}

/* Each place is a stack of one frame; those of a process follow each other. */
static int places_take(const struct watch_record *r, struct cpu_samples *samples, struct user_stack **raw,
		       struct user_stacks *out)
{
	struct user_stack place = { .depth = 1 };
	int places = 0;

	qsort(samples->stacks, samples->stack_count, sizeof(*samples->stacks), by_process);

	for (int i = 0; i < samples->stack_count; i++)
		places += samples->stacks[i].user;
	*raw = calloc(places + 1, sizeof(**raw));
	out->stacks = calloc(places + 1, sizeof(*out->stacks));
	if (!*raw || !out->stacks)
		return -ENOMEM;
	for (int i = 0; i < samples->stack_count; i++) {
		const struct cpu_stack *from = &samples->stacks[i];

		if (from->tgid != place.tgid)
			place.started_ns = started_of(r, from->tgid);
		place.tgid = from->tgid;
		place.frames[0] = from->address;
		if (from->user)
			(*raw)[out->stack_count++] = place;
	}
	return 0;
}

/* Once more, for what was loaded after the last look. */
static void look_again(struct kept_stacks *s, const struct user_stack *raw, int count)
{
	for (int i = 0; i < count && !s->failure; i++) {
		const struct request request = { .tgid = raw[i].tgid, .started_ns = raw[i].started_ns };

		if (request.started_ns && (!i || raw[i - 1].tgid != request.tgid))
			s->failure = move_all(s->to, (void *)&request, sizeof(request), true, naming_deadline(s));
	}
}

static int samples_name(struct kept_stacks *s, const struct watch_record *r, struct cpu_samples *samples)
{
	struct user_stacks *out = &samples->programs;
	struct user_stack *raw = NULL;
	int err = places_take(r, samples, &raw, out), at = 0;

	if (!err && out->stack_count) {
		look_again(s, raw, out->stack_count);
		err = name_all(s, raw, out);
	}
	for (int i = 0; i < samples->stack_count && !err; i++) {
		const struct call_stack *named;

		if (!samples->stacks[i].user)
			continue;
		named = &out->stacks[at++];
		if (named->count)
			samples->stacks[i].frames = out->frames[out->places[named->first]].function;
	}
	samples->named = !err;
	free(raw);
	return err;
}

static int samples_take(struct kept_stacks *s)
{
	struct cpu_samples came;
	int err = engine_samples(s->engine, &came);

	if (!err)
		err = cpu_tally_add(&s->tally, &came);
	cpu_samples_free(&came);
	return err;
}

int samples_relieve(struct kept_stacks *s)
{
	return engine_samples_due(s->engine) ? samples_take(s) : 0;
}

int samples_read(struct kept_stacks *s, struct watch_record *r, bool last)
{
	struct cpu_samples samples = {};
	int err = samples_take(s);

	if (!err)
		err = cpu_tally_all(&s->tally, &samples);
	if (!err && last && s->reader)
		err = samples_name(s, r, &samples);
	if (!err)
		err = watch_cpu_fill(r, &samples);
	cpu_samples_free(&samples);
	return err;
}

void stacks_close(struct kept_stacks *s)
{
	const int64_t deadline = in_ms(END_MS);

	cpu_tally_free(&s->tally);
	if (!s->reader)
		return;
	close(s->to);
	close(s->from);
	/* A file of others may hold it up. */
	while (!waitpid(s->reader, NULL, WNOHANG) && monotonic_ms() < deadline)
		sleep_ns(NS_PER_MS);
	*s = (struct kept_stacks){};
}
