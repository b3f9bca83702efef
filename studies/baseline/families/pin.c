// SPDX-License-Identifier: GPL-2.0
/*
 * Family pin: what it costs to take references to pages of user memory, without a socket or a copy.
 *
 * vmsplice() without a gift gets pages by iov_iter_get_pages2() (fs/splice.c, iter_to_pipe()), as
 * MSG_ZEROCOPY does (net/core/datagram.c), and puts each into a slot of a pipe. Nothing else differs
 * between two points of the curve, so that its slope is a pin and a slot: at least what a pin costs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/families/families.h"

/* As many pieces as a pipe has slots. Each lies apart from the next, so that none shares a call of
 * get_user_pages_fast() with it. */
enum { PAGE_BYTES = 4096, PIECES_MAX = 16, STRIDE = 2 * PAGE_BYTES };

struct pages {
	char *at;
	int pipe[2], sink;
	struct iovec piece[PIECES_MAX];
};

/* What is written into a page after vmsplice() must come out of the pipe: no copy was made. */
static int check_no_copy(struct work *w, struct pages *p)
{
	char found[PAGE_BYTES] = "";

	memset(p->at, 'a', PAGE_BYTES);
	if (vmsplice(p->pipe[1], p->piece, 1, 0) != PAGE_BYTES)
		return work_fail(w, errno, "vmsplice() is refused");
	memset(p->at, 'b', PAGE_BYTES);
	if (read(p->pipe[0], found, PAGE_BYTES) != PAGE_BYTES || memcmp(found, p->at, PAGE_BYTES))
		return work_fail(w, 0, "vmsplice() made a copy of the page");
	return 0;
}

static int prepare_pin(struct work *w, const struct row *row)
{
	struct pages *p = w->own = calloc(1, sizeof(*p));

	if (!p)
		return work_fail(w, ENOMEM, "no memory");
	p->pipe[0] = p->pipe[1] = p->sink = -1;
	p->at = mmap(NULL, PIECES_MAX * STRIDE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p->at == MAP_FAILED)
		return work_fail(w, errno, "no memory");
	for (int i = 0; i < PIECES_MAX; i++)
		p->piece[i] = (struct iovec){ p->at + i * STRIDE, PAGE_BYTES };
	p->sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (p->sink < 0 || pipe2(p->pipe, O_CLOEXEC))
		return work_fail(w, errno, "cannot make a pipe");
	return check_no_copy(w, p);
}

static void undo_pin(struct work *w)
{
	struct pages *p = w->own;

	if (!p)
		return;
	if (p->at && p->at != MAP_FAILED)
		munmap(p->at, PIECES_MAX * STRIDE);
	close(p->pipe[0]);
	close(p->pipe[1]);
	close(p->sink);
	free(p);
}

/* The references go with the bytes into the sink, outside of what is timed. */
static int time_pin(struct work *w, const struct row *row, uint64_t calls)
{
	struct pages *p = w->own;
	uint64_t pieces = w->x ? w->x : 1, spent = 0, taken = 0;
	ssize_t all = pieces * PAGE_BYTES;
	int err = 0;

	task_pin(0);
	region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++) {
		uint64_t from = region_tick();
		ssize_t given = vmsplice(p->pipe[1], p->piece, pieces, 0);

		spent += region_tick() - from;
		taken += given > 0 ? given : 0;
		err = given != all || splice(p->pipe[0], NULL, p->sink, NULL, all, 0) != all;
	}
	region_end(w);
	if (err)
		return work_fail(w, errno, "vmsplice() or splice() was refused or cut short");
	w->spent_ticks = spent;
	region_per_call(w, row, calls);
	w->witness[WITNESS_BYTES] = taken;
	return 0;
}

static uint64_t piece_counts(const struct work *w, int i)
{
	return 1u << i <= PIECES_MAX ? 1u << i : 0;
}

static const struct row rows[] = {
	{ .name = "pin", .title = "vmsplice of a page to a pipe: pinned, not copied", .unit = "ns",
	  .extra = true, .calls = 100000, .quick_calls = 20000, .counted_calls = 10007,
	  .point = piece_counts, .x_unit = "pages", .invariants = {
		{ EXACTLY, EVENT_syscalls, 2, 0, 0, "one vmsplice and one splice a call" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), PAGE_BYTES, 0, 0, "a whole page a call" },
		{ EXACTLY, EVENT_voluntary, 0, 0, 0, "the process never waits" },
		{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" } } },
};

const struct family family_pin = {
	.name = "pin", .rows = rows, .count = 1, .prepare = prepare_pin, .time = time_pin,
	.undo = undo_pin,
};
