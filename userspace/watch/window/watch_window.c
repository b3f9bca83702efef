// SPDX-License-Identifier: GPL-2.0
/* Opens a window over processes that run, collects sockets that die, reads all books. */
#include "userspace/watch/window/watch_window.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/confine/confine.h"
#include "userspace/probes/watch/watch_probes.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/subject/watch_cgroups.h"
#include "userspace/watch/window/watch_parts.h"

enum { STEP_MS = 20 };

static void hooked_note(struct watch *w)
{
	char why[WHY_BYTES];

	w->hooked = (struct watch_hooked){
		.sends = watch_probes_have(w->probes, "sends") ||
			 (watch_probes_have(w->probes, "tx_reference") &&
			  watch_probes_have(w->probes, "tx_splice")),
		.rx_copies = watch_probes_have(w->probes, "rx_copy"),
		.rx_calls = watch_probes_have(w->probes, "rx_splice") &&
			    watch_probes_have(w->probes, "rx_map"),
		.discards = watch_probes_have(w->probes, "rx_discard"),
		.completions = watch_probes_have(w->probes, "completions"),
		.drops = watch_probes_have(w->probes, "drops"),
		.calls = watch_probes_have(w->probes, "send calls") &&
			 watch_probes_have(w->probes, "recv calls"),
		.packets = watch_probes_have(w->probes, "departures"),
		.late_copies = watch_probes_backend(w->probes, why) == BACKEND_TRAMPOLINE &&
			       watch_probes_have(w->probes, "late_copy"),
		.devices = watch_probes_have(w->probes, "devices"),
		.moved = watch_probes_have(w->probes, "moved"),
		.rings = watch_probes_have(w->probes, "rings"),
		.taps = watch_probes_have(w->probes, "taps"),
		/* The one that the kernel frees tells which. */
		.limits = watch_probes_have(w->probes, "limits") &&
			  watch_probes_have(w->probes, "drops"),
	};
}

static void configure(const struct watch_subject *s, struct watch_probes_config *c)
{
	static const enum watch_filter filters[] = {
		[WATCH_PIDS] = WATCH_OF_TASKS, [WATCH_COMM] = WATCH_OF_TASKS,
		[WATCH_CGROUP] = WATCH_OF_TASKS, [WATCH_NETNS] = WATCH_OF_NETNS,
		[WATCH_PORTS] = WATCH_OF_PORTS, [WATCH_ALL] = WATCH_OF_ALL,
	};

	*c = (struct watch_probes_config){ .filter = filters[s->by], .cgroup = s->cgroup_id,
					   .cgroup_level = s->cgroup_level,
					   .netns_count = s->netns_count,
					   .port_count = s->port_count };
	if (s->by == WATCH_COMM)
		memcpy(c->comm, s->comm, sizeof(c->comm));
	memcpy(c->ports, s->ports, sizeof(c->ports));
	memcpy(c->netns, s->netns, sizeof(c->netns));
	memcpy(c->netns_fds, s->netns_fds, sizeof(c->netns_fds));
}

/* What packets of the whole machine did until now. */
static void gauges_note(struct watch *w)
{
	const struct watch_gauges gauges = watch_probes_gauges(w->probes);

	w->hooked.no_onward = !gauges.spliced_onward;
	w->hooked.no_sockmaps = !gauges.sockmaps && !gauges.sockmap_seen;
	w->hooked.no_orphans = !gauges.reshaped_orphans;
}

static void death(void *arg, const struct watch_book *book)
{
	struct watch *w = arg;
	int err;

	gauges_note(w);
	err = watch_tally_death(&w->tally, book, &w->hooked);
	if (err)
		w->failure = err;
}

static void gone(void *arg, const struct watch_member *member)
{
	struct watch *w = arg;
	int err = watch_tally_gone(&w->tally, member);

	if (err)
		w->failure = err;
}

/* What died and ended since the last time. */
static int collect_ended(struct watch *w)
{
	const struct watch_ends ends = { death, gone, w };
	int err = watch_probes_deaths(w->probes, &ends);

	return w->failure ? w->failure : err < 0 ? -EIO : 0;
}

static void look_for_zerocopy(void *arg, const struct watch_book *book)
{
	bool *found = arg;

	*found |= book->now.asks_zerocopy || book->now.zerocopy_sends || book->now.referenced_bytes ||
		  book->now.spliced_bytes;
}

/* Opens the window; hooks that only zero copy needs are attached before, if a socket asks for it. */
static int open_books(struct watch *w, bool every_hook, char why[WHY_BYTES])
{
	bool zerocopy = every_hook;
	int err = 0;

	hooked_note(w);
	for (int round = 0; round < 2 && !err; round++) {
		if (zerocopy)
			err = watch_probes_attach(w->probes, WATCH_HOOKS_ZEROCOPY, why);
		if (!err)
			err = watch_probes_open(w->probes);
		if (!err)
			err = collect_ended(w);
		if (err || zerocopy)
			break;
		err = watch_probes_read(w->probes, look_for_zerocopy, &zerocopy);
		zerocopy |= watch_probes_gauges(w->probes).zerocopy_seen;
		if (!zerocopy)
			break;
	}
	if (err && !*why)
		snprintf(why, WHY_BYTES, "cannot read the opening balances: %s", strerror(-err));
	hooked_note(w);
	return err;
}

int watch_open(struct watch **out, const struct watch_config *config, char why[WHY_BYTES])
{
	struct watch *w = calloc(1, sizeof(*w));
	struct watch_probes_config probes;
	int err;

	*out = NULL;
	*why = '\0';
	if (!w)
		return -ENOMEM;
	w->subject = *config->subject;
	w->books = config->books;
	w->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	watch_tally_begin(&w->tally, 0);
	w->cgroup_count = watch_cgroups_list(&w->cgroups);
	configure(&w->subject, &probes);
	probes.backend = config->backend;
	probes.fault = config->fault;
	probes.calls = config->books == WATCH_CALLS;
	err = watch_probes_load(&w->probes, &probes, why);
	if (!err)
		err = watch_probes_attach(w->probes, WATCH_HOOKS_ALWAYS, why);
	if (!err && config->books == WATCH_CALLS)
		err = watch_probes_attach(w->probes, WATCH_HOOKS_CALLS, why);
	if (!err)
		err = watch_choose(w, why);
	if (!err)
		err = open_books(w, config->every_hook, why);
	if (err) {
		watch_close(w);
		return err;
	}
	w->opened_ns = w->read_ns = monotonic_ns();
	*out = w;
	return 0;
}

/* Up to 5.18 kernel.unprivileged_bpf_disabled forbids maps to processes without CAP_BPF (c8644cd0efe7,
 * "bpf: refine kernel.unprivileged_bpf_disabled behaviour"); the programs of a watch need 6.1. */
int watch_confine(struct watch *w)
{
	int err = confine_for_good();

	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	return err ? err : confine_syscalls(CONFINE_WATCH);
}

/* A socket asked for zero copy for the first time. */
static int attach_late(struct watch *w)
{
	char why[WHY_BYTES] = "";
	int err;

	if (w->hooked.packets || w->late_tried || !watch_probes_gauges(w->probes).zerocopy_seen)
		return 0;
	w->late_tried = true;
	err = watch_probes_attach(w->probes, WATCH_HOOKS_ZEROCOPY, why);
	hooked_note(w);
	return err;
}

int watch_wait(struct watch *w, int timeout_ms)
{
	int64_t until = monotonic_ms() + timeout_ms;
	int64_t left;
	int got, err;

	do {
		struct timespec pause = { 0, STEP_MS * NS_PER_MS };

		left = until - monotonic_ms();
		if (left > 0 && left < STEP_MS)
			pause.tv_nsec = left * NS_PER_MS;
		got = left > 0 ? nanosleep(&pause, NULL) : 0;
		attach_late(w);
		err = collect_ended(w);
		if (err)
			return err;
	} while (left > 0 && !got);
	return watch_alive(w);
}

struct open_books {
	struct watch *w;
	struct watch_book *items;
	int count, room, failure;
};

static void open_book(void *arg, const struct watch_book *book)
{
	struct open_books *open = arg;

	if (open->count == open->room) {
		int room = open->room ? 2 * open->room : 64;
		struct watch_book *more = realloc(open->items, room * sizeof(*more));

		if (!more) {
			open->failure = -ENOMEM;
			return;
		}
		open->items = more;
		open->room = room;
	}
	open->items[open->count++] = *book;
}

static int by_cookie(const void *a, const void *b)
{
	uint64_t x = ((const struct watch_book *)a)->cookie, y = ((const struct watch_book *)b)->cookie;

	return (x > y) - (x < y);
}

struct died {
	struct watch *w;
	uint64_t *cookies;
	int count, room;
};

static void death_noted(void *arg, const struct watch_book *book)
{
	struct died *died = arg;

	death(died->w, book);
	if (died->count == died->room) {
		int room = died->room ? 2 * died->room : 64;
		uint64_t *more = realloc(died->cookies, room * sizeof(*more));

		if (!more) {
			died->w->failure = -ENOMEM;
			return;
		}
		died->cookies = more;
		died->room = room;
	}
	died->cookies[died->count++] = book->cookie;
}

static void gone_noted(void *arg, const struct watch_member *member)
{
	gone(((struct died *)arg)->w, member);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool died_has(const struct died *died, const uint64_t *cookie)
{
	return died->count && bsearch(cookie, died->cookies, died->count, sizeof(*cookie), by_number);
}

/* A socket may move from one walk to the next, or die between them and the ring. */
static void open_sort(struct open_books *open, const struct died *died)
{
	int kept = 0;

	if (open->count)
		qsort(open->items, open->count, sizeof(*open->items), by_cookie);
	if (died->count)
		qsort(died->cookies, died->count, sizeof(*died->cookies), by_number);
	for (int i = 0; i < open->count; i++) {
		const uint64_t cookie = open->items[i].cookie;

		if ((!kept || open->items[kept - 1].cookie != cookie) && !died_has(died, &cookie))
			open->items[kept++] = open->items[i];
	}
	open->count = kept;
}

static int read_books(struct watch *w, struct open_books *open)
{
	struct died died = { .w = w };
	const struct watch_ends ends = { death_noted, gone_noted, &died };
	int err = collect_ended(w);

	if (!err)
		err = watch_probes_read(w->probes, open_book, open);
	if (!err)
		err = watch_probes_deaths(w->probes, &ends);
	open_sort(open, &died);
	free(died.cookies);
	if (err < 0)
		return err;
	return open->failure ? open->failure : w->failure;
}

/* A program that was skipped before the last book was read shows in the list that is taken after it. */
static int judge_books(struct watch *w, const struct open_books *open, struct watch_record *r)
{
	struct watch_socket *sockets = malloc((open->count + 1) * sizeof(*sockets));
	int err;

	if (!sockets)
		return -ENOMEM;
	r->probe_count = watch_probes_list(w->probes, r->probes);
	w->hooked.skipped = watch_skipped(r);
	gauges_note(w);
	for (int i = 0; i < open->count; i++)
		watch_tally_open(&w->tally, &sockets[i], &open->items[i], &w->hooked);
	err = watch_tally_read(&w->tally, sockets, open->count, w->hooked.skipped, r);
	free(sockets);
	return err;
}

int watch_read(struct watch *w, struct watch_record *r)
{
	struct open_books open = { .w = w };
	uint64_t now;
	int err;

	memset(r, 0, sizeof(*r));
	err = read_books(w, &open);
	now = monotonic_ns();
	if (!err)
		err = judge_books(w, &open, r);
	free(open.items);
	if (err)
		return err;
	r->backend = watch_probes_backend(w->probes, r->backend_why);
	r->books = w->books;
	r->window_ns = now - w->opened_ns;
	r->lately_ns = now - w->read_ns;
	w->read_ns = now;
	err = watch_read_extras(w, r);
	if (err)
		return err;
	watch_sites_fill(r);
	watch_verdicts_fill(r);
	watch_causes_fill(r);
	return 0;
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	watch_probes_free(w->probes);
	watch_tally_free(&w->tally);
	free(w->cgroups);
	free(w);
}
