// SPDX-License-Identifier: GPL-2.0
/* Walks over sockets, descriptors and processes by iterators, and the ring of sockets that died. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/engine/engine_inside.h"
#include "userspace/engine/netns_reader.h"

/* Passing a socket on is rare, and tells nobody. */
enum { GLANCES_MOST = 5 };

enum { STILL_READINGS_MOST = 1000, CENSUSES_MOST = 3, WALKS_MOST = 4, CENSUS_PAUSE_US = 1000 };

/* What an iterator is made of: NULL in *@link, and true, if its program is not loaded. */
static bool link_iterator(struct bpf_program *program, struct bpf_map *map, struct bpf_link **link)
{
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts);

	if (!bpf_program__autoload(program))
		return true;
	if (map) {
		info.map.map_fd = bpf_map__fd(map);
		opts.link_info = &info;
		opts.link_info_len = sizeof(info);
	}
	*link = bpf_program__attach_iter(program, &opts);
	return *link;
}

static int death_arrives(void *arg, void *data, size_t size)
{
	struct engine *p = arg;

	if (size >= sizeof(struct watch_book))
		p->each.death(p->each.arg, data);
	else if (size >= sizeof(struct watch_member) && p->each.gone)
		p->each.gone(p->each.arg, data);
	return 0;
}

static int enter_namespaces(struct engine *p, char why[WHY_BYTES])
{
	struct stat own = {};
	int err = stat("/proc/self/ns/net", &own) ? -errno : 0;

	for (int i = 0; i < p->config.netns_count && !err; i++)
		if (p->config.netns[i] != own.st_ino)
			err = netns_reader_start(&p->entered[i], p->config.netns_fds[i],
					    bpf_link__fd(p->sockets));
	if (err)
		snprintf(why, WHY_BYTES, "cannot enter a network namespace: %s", strerror(-err));
	return err;
}

static struct bpf_program *loaded(struct bpf_program *one, struct bpf_program *other)
{
	return bpf_program__autoload(one) ? one : other;
}

int iterators_prepare(struct engine *p, char why[WHY_BYTES])
{
	const __typeof__(p->skel->progs) *progs = &p->skel->progs;

	p->ring = ring_buffer__new(bpf_map__fd(p->skel->maps.deaths), death_arrives, p, NULL);
	if (p->ring && link_iterator(loaded(progs->walk_sockets_tls, progs->walk_sockets), NULL, &p->sockets) &&
	    link_iterator(loaded(progs->walk_closed_tls, progs->walk_closed), p->skel->maps.watch_books, &p->closed) &&
	    (p->closed || link_iterator(loaded(progs->walk_held_tls, progs->walk_held), NULL, &p->closed)) &&
	    link_iterator(p->skel->progs.walk_descriptors, NULL, &p->descriptors) &&
	    link_iterator(p->skel->progs.walk_tasks, NULL, &p->tasks) &&
	    link_iterator(p->skel->progs.walk_maps, NULL, &p->maps))
		return enter_namespaces(p, why);
	snprintf(why, WHY_BYTES, "the kernel refused an iterator: %s", strerror(errno));
	return -errno;
}

void iterators_free(struct engine *p)
{
	for (int i = 0; i < p->config.netns_count; i++)
		netns_reader_end(&p->entered[i]);
	bpf_link__destroy(p->sockets);
	bpf_link__destroy(p->closed);
	bpf_link__destroy(p->descriptors);
	bpf_link__destroy(p->tasks);
	bpf_link__destroy(p->maps);
	ring_buffer__free(p->ring);
	free(p->books.items);
	free(p->members);
}

static int walk(struct bpf_link *link, size_t size, void (*take)(void *arg, const void *item), void *arg)
{
	int fd, err;

	if (!link)
		return 0;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return -errno;
	err = items_drain(fd, size, take, arg);
	close(fd);
	return err;
}

struct rows {
	void *items;
	size_t size;
	int count, room;
};

static void keep(void *arg, const void *item)
{
	struct rows *rows = arg;

	if (rows->count == rows->room) {
		int room = rows->room ? 2 * rows->room : 256;
		void *more = realloc(rows->items, room * rows->size);

		if (!more)
			return;
		rows->items = more;
		rows->room = room;
	}
	memcpy((char *)rows->items + rows->count++ * rows->size, item, rows->size);
}

int engine_processes(struct engine *p, struct watch_row **out)
{
	struct rows rows = { .size = sizeof(**out) };
	int err = walk(p->tasks, rows.size, keep, &rows);

	*out = rows.items;
	return err ? err : rows.count;
}

int engine_add(struct engine *p, const struct watch_row *row)
{
	struct watch_member member = { .task = row->task };
	uint32_t bits = sizeof(p->skel->bss->member_bits) * CHAR_BIT, bit = row->task.tgid % bits;

	__atomic_fetch_or(&p->skel->bss->member_bits[bit / 64], 1ull << bit % 64, __ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(bpf_map__fd(p->skel->maps.members), &row->task.tgid, &member, BPF_NOEXIST))
		return -errno;
	p->skel->bss->watch_gauges.chosen++;
	return 0;
}

bool engine_remove(struct engine *p, uint32_t tgid)
{
	if (bpf_map_delete_elem(bpf_map__fd(p->skel->maps.members), &tgid))
		return false;
	p->skel->bss->watch_gauges.chosen--;
	return true;
}

/* A walk key by key would begin anew where an entry went. */
static int members_read(struct engine *p)
{
	const struct bpf_map *map = p->skel->maps.members;
	uint32_t most = bpf_map__max_entries(map), cursor;
	struct watch_member *members = p->members ?: malloc(most * sizeof(*members));
	uint32_t *keys = malloc(most * sizeof(*keys));
	int err = members && keys ? 0 : -ENOMEM;

	p->members = members;
	p->member_count = most;
	if (!err)
		err = bpf_map_lookup_batch(bpf_map__fd(map), NULL, &cursor, keys, members, &p->member_count, NULL);
	free(keys);
	/* The end of the table. */
	return err == -ENOENT ? 0 : err;
}

int engine_members(const struct engine *p, const struct watch_member **out)
{
	*out = p->members;
	return p->member_count;
}

static int walk_descriptors(struct engine *p)
{
	p->skel->bss->watch_pass = ++p->pass;
	p->books_looked_up = p->skel->bss->watch_gauges.begun;
	p->glances = 0;
	return walk(p->descriptors, 1, NULL, NULL);
}

/* A walk over the descriptors of 10,000 processes takes a third of a reading. Without it each book keeps its owner. */
static int look_descriptors_up(struct engine *p, bool glance)
{
	if (!glance || p->guessed || p->books_looked_up != p->skel->bss->watch_gauges.begun || ++p->glances >= GLANCES_MOST)
		return walk_descriptors(p);
	p->skel->bss->watch_pass = ++p->pass;
	return 0;
}

struct reader {
	void (*each)(void *arg, const struct watch_book *book);
	void *arg;
};

static void hand_over(void *arg, const void *item)
{
	const struct reader *reader = arg;

	reader->each(reader->arg, item);
}

/* An iterator over sockets sees the network namespace of whoever makes it. */
static int walk_namespaces(struct engine *p, void (*take)(void *arg, const void *item), void *arg)
{
	int err = 0;

	for (int i = 0; i < p->config.netns_count && !err; i++)
		err = p->entered[i].pid ? netns_reader_walk(&p->entered[i], sizeof(struct watch_book), take, arg) :
					  walk(p->sockets, sizeof(struct watch_book), take, arg);
	return err;
}

int engine_find_listeners(struct engine *p)
{
	p->skel->bss->watch_mode = WATCH_MODE_OPEN;
	return walk_descriptors(p);
}

int engine_open(struct engine *p)
{
	int err;

	/* What was missed before is not of the window. */
	memset(p->counts, 0, sizeof(p->counts));
	hits_begin(p);
	/* Before the walk: what a socket moves after it was met is counted. */
	p->skel->bss->window_is_open = 1;
	p->skel->bss->watch_mode = WATCH_MODE_OPEN;
	err = walk_namespaces(p, NULL, NULL);
	if (!err)
		err = walk_descriptors(p);
	p->skel->bss->watch_mode = WATCH_MODE_READ;
	/* Who holds an MPTCP socket holds those of TCP below it: the first walk did not know. */
	return err || !p->skel->bss->mptcp_held ? err : walk_namespaces(p, NULL, NULL);
}

int engine_begin_sizes(struct engine *p)
{
	int err;

	p->skel->bss->watch_mode = WATCH_MODE_READ;
	err = walk_namespaces(p, NULL, NULL);
	p->skel->bss->sizes_open = !err;
	return err;
}

/* The sums that a census needs change while they are read: until two readings are the same. */
static struct watch_gauges gauges_at_rest(const struct engine *p)
{
	const volatile struct watch_gauges *live = &p->skel->bss->watch_gauges;
	struct watch_gauges last, now = *live;

	for (int i = 0; i < STILL_READINGS_MOST; i++) {
		last = now;
		now = *live;
		if (!memcmp(&last, &now, sizeof(now)))
			break;
	}
	return now;
}

/* Books that there were before the census @next, and that it has not met. */
static uint64_t unmet(const struct watch_gauges *now, uint32_t next)
{
	return now->begun - now->begun_lately[next & 1] + now->ended_after -
	       (now->ended - now->ended_lately[next & 1]) - now->met;
}

/* All sockets that have a book, and how many there are: see bpf/include/census.bpf.h. What is closed, of UDP or in a
 * namespace of others is looked for if a book is left, or may be: that walk may pass every descriptor of the machine, and may
 * miss some where others leave the table of books. */
static int walk_books(struct engine *p, struct reader *reader)
{
	volatile struct watch_gauges *sums = &p->skel->bss->watch_gauges;
	uint32_t next = p->skel->bss->census_next + 1;
	const struct watch_gauges before = gauges_at_rest(p);
	struct watch_gauges now;
	bool left;
	int err;

	sums->begun_lately[next & 1] = sums->ended_lately[next & 1] = 0;
	__atomic_store_n(&p->skel->bss->census_next, next, __ATOMIC_SEQ_CST);
	sums->met = sums->ended_after = 0;
	err = walk_namespaces(p, hand_over, reader);
	now = gauges_at_rest(p);
	left = unmet(&now, next) || now.begun != before.begun || now.ended != before.ended;
	for (int i = 0; i < WALKS_MOST && left && !err; i++) {
		err = walk(p->closed, sizeof(struct watch_book), hand_over, reader);
		now = gauges_at_rest(p);
		left = unmet(&now, next);
	}
	p->unseen_ends = unmet(&now, next);
	return err;
}

/* A socket may begin or end in the middle of a step, which another census shows. */
static int walk_books_again(struct engine *p, struct reader *reader)
{
	int err = walk_books(p, reader);

	for (int i = 0; i < CENSUSES_MOST && p->unseen_ends && !err; i++) {
		usleep(CENSUS_PAUSE_US);
		err = walk_books(p, reader);
	}
	return err;
}

/* Calls @each with the book of every socket of the subject that is there now. 0 or -errno. */
static int books_read(struct engine *p, bool glance, void (*each)(void *arg, const struct watch_book *book), void *arg)
{
	struct reader reader = { each, arg };
	int err;

	p->skel->bss->watch_mode = WATCH_MODE_READ;
	p->skel->bss->watch_gauges.bookless = 0;
	p->skel->bss->watch_gauges.sockmaps = 0;
	err = walk(p->maps, 1, NULL, NULL);
	if (!err)
		err = look_descriptors_up(p, glance);
	p->guessed = false;
	return err ? err : walk_books_again(p, &reader);
}

bool engine_began_since(const struct engine *p)
{
	return p->skel->bss->watch_gauges.begun != p->books_looked_up;
}

int engine_wait(const struct engine *p, int timeout_ms, int other)
{
	struct pollfd ready[] = {
		{ .fd = ring_buffer__epoll_fd(p->ring), .events = POLLIN },
		{ .fd = p->news ? ring_buffer__epoll_fd(p->news) : -1, .events = POLLIN },
		{ .fd = other, .events = POLLIN },
	};

	return poll(ready, sizeof(ready) / sizeof(*ready), timeout_ms) < 0 ? -errno : 0;
}

/* Books that lie beside the ring, as it was full. 0 or -errno. */
static int deaths_beside_take(struct engine *p)
{
	volatile __u64 *waiting = &p->skel->bss->deaths_waiting;
	int fd = bpf_map__fd(p->skel->maps.deaths_beside);
	struct watch_book book;
	uint64_t cookie;

	while (__atomic_load_n(waiting, __ATOMIC_SEQ_CST)) {
		if (bpf_map_get_next_key(fd, NULL, &cookie) || bpf_map_lookup_elem(fd, &cookie, &book) ||
		    bpf_map_delete_elem(fd, &cookie))
			return -errno;
		__atomic_sub_fetch(waiting, 1, __ATOMIC_SEQ_CST);
		p->each.death(p->each.arg, &book);
	}
	return 0;
}

int engine_deaths(struct engine *p, const struct engine_ends *each)
{
	int err;

	p->each = *each;
	err = ring_buffer__consume(p->ring);
	return err < 0 ? err : deaths_beside_take(p);
}

void collect(struct collected *c, const void *item)
{
	if (c->count == c->room) {
		int room = c->room ? 2 * c->room : 64;
		void *more = realloc(c->items, room * c->size);

		if (!more) {
			c->failure = -ENOMEM;
			return;
		}
		c->items = more;
		c->room = room;
	}
	memcpy((char *)c->items + c->count++ * c->size, item, c->size);
}

static void book_met(void *arg, const struct watch_book *book)
{
	struct engine *p = arg;

	p->guessed |= book->flags & WATCH_GUESSED;
	collect(&p->books, book);
}

struct ended {
	const struct engine_ends *each;
	struct collected cookies;
};

static void death_met(void *arg, const struct watch_book *book)
{
	struct ended *ended = arg;

	ended->each->death(ended->each->arg, book);
	collect(&ended->cookies, &book->cookie);
}

static void gone_met(void *arg, const struct watch_member *member)
{
	const struct ended *ended = arg;

	ended->each->gone(ended->each->arg, member);
}

/* A book begins with its cookie. */
_Static_assert(!offsetof(struct watch_book, cookie), "books are not sorted by their cookies");

static int by_cookie(const void *a, const void *b)
{
	return numbers_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* A socket may move from one walk to the next, or die between them and the ring. */
static int books_sort(struct watch_book *books, int count, struct collected *died)
{
	int kept = 0;

	if (count)
		qsort(books, count, sizeof(*books), by_cookie);
	if (died->count)
		qsort(died->items, died->count, died->size, by_cookie);
	for (int i = 0; i < count; i++) {
		const uint64_t cookie = books[i].cookie;
		bool dead = died->count && bsearch(&cookie, died->items, died->count, died->size, by_cookie);

		if (!dead && (!kept || books[kept - 1].cookie != cookie))
			books[kept++] = books[i];
	}
	return kept;
}

/* One that dies after the first look at what died, and before a walk comes to it, is found by the second. So is a process
 * that ends and is collected before the table of processes is read. */
int engine_books(struct engine *p, const struct engine_ends *each, bool glance, const struct watch_book **out)
{
	struct collected *open = &p->books;
	struct ended ended = { each, { .size = sizeof(uint64_t) } };
	const struct engine_ends ends = { death_met, each->gone ? gone_met : NULL, &ended };
	int err = engine_deaths(p, &ends);

	open->size = sizeof(**out);
	open->count = open->failure = 0;
	if (err >= 0)
		err = books_read(p, glance, book_met, p);
	if (err >= 0 && each->gone)
		err = members_read(p);
	if (err >= 0)
		err = engine_deaths(p, &ends);
	err = err < 0 ? err : open->failure ? open->failure : ended.cookies.failure;
	*out = open->items;
	open->count = err ? 0 : books_sort(open->items, open->count, &ended.cookies);
	free(ended.cookies.items);
	return err ? err : open->count;
}

/* The programs go on counting for one that is open, and not for one that died. */
int engine_tls(const struct engine *p, const struct watch_book *book, struct tls_book *tls)
{
	int books = bpf_map__fd(p->skel->maps.tls_books), reads = bpf_map__fd(p->skel->maps.tls_read);
	bool died = book->flags & WATCH_DIED;
	int err = bpf_map_lookup_elem(died ? books : reads, &book->cookie, tls) ? -errno : 0;

	if (died) {
		bpf_map_delete_elem(reads, &book->cookie);
		bpf_map_delete_elem(books, &book->cookie);
	}
	return err;
}

struct watch_gauges engine_gauges(const struct engine *p)
{
	return p->skel->bss->watch_gauges;
}

uint64_t engine_unseen(const struct engine *p)
{
	const struct watch_gauges *gauges = &p->skel->bss->watch_gauges;

	/* Where there was no memory for a book, that is said already. */
	return p->unseen_ends + gauges->unseen_births + gauges->unseen_changes +
	       (gauges->unbooked ? 0 : gauges->bookless);
}

bool engine_walks_storages(const struct engine *p)
{
	const __typeof__(p->skel->progs) *progs = &p->skel->progs;

	return bpf_program__autoload(loaded(progs->walk_closed_tls, progs->walk_closed));
}

uint64_t engine_memory(const struct engine *p)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, p->skel->obj) {
		if (!bpf_map__autocreate(map))
			continue;
		/* What takes memory by the entry has the head of a list for each. */
		uint64_t each = bpf_map__map_flags(map) & BPF_F_NO_PREALLOC ?
					sizeof(void *) * 2 :
					bpf_map__key_size(map) + bpf_map__value_size(map);

		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
			bytes += bpf_map__max_entries(map);
		else
			bytes += each * bpf_map__max_entries(map);
	}
	return bytes;
}
