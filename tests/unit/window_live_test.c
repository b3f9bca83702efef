// SPDX-License-Identifier: GPL-2.0
/* Claims about the window of a measurement, whose subject is this process. Needs root. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/common/system/process_numbers.h"
#include "userspace/run/window.h"

enum { CHUNK = 5000, PAIRS = 40 };

struct pair {
	int tx, rx;
};

/* What a program that knows nothing of copyscope does. Old kernels make no cookie by themselves. */
static struct pair pair_open(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(here);
	struct pair p;
	uint64_t cookie;

	assert_int_equal(bind(listener, (void *)&here, sizeof(here)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (void *)&here, &size), 0);
	p.tx = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(p.tx, (void *)&here, sizeof(here)), 0);
	p.rx = accept(listener, NULL, NULL);
	assert_true(p.rx >= 0);
	close(listener);
	size = sizeof(cookie);
	getsockopt(p.tx, SOL_SOCKET, SO_COOKIE, &cookie, &size);
	getsockopt(p.rx, SOL_SOCKET, SO_COOKIE, &cookie, &size);
	return p;
}

static void pair_pass(const struct pair *p)
{
	char bytes[CHUNK] = "";

	assert_int_equal(send(p->tx, bytes, CHUNK, 0), CHUNK);
	assert_int_equal(recv(p->rx, bytes, CHUNK, MSG_WAITALL), CHUNK);
}

static void pair_close(const struct pair *p)
{
	close(p->tx);
	close(p->rx);
}

static void window_on_this_process(struct window *w, struct record *r, int sockets)
{
	struct subject subject = { .processes = 1, .namespaces = 1, .sockets = sockets };
	struct probes_config config = { .subject = &subject };
	struct stat netns;

	if (geteuid())
		skip();
	subject.tgid[0] = global_tgid();
	assert_int_equal(stat("/proc/self/ns/net", &netns), 0);
	subject.netns[0] = netns.st_ino;
	memset(w, 0, sizeof(*w));
	memset(r, 0, sizeof(*r));
	assert_int_equal(window_load(w, &config, r), 0);
	assert_int_equal(window_attach(w, BACKEND_AUTO, r), 0);
}

TEST(a_window_counts_what_moves_while_it_is_open)
{
	struct pair p = pair_open();
	struct window w;
	struct record r;

	window_on_this_process(&w, &r, 2);
	pair_pass(&p);	/* before */
	window_open(&w);
	pair_pass(&p);
	pair_pass(&p);
	window_close(&w, &r);
	pair_pass(&p);	/* after */
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(r.ledger.total.count[COUNT_accepted_bytes], 2 * CHUNK);
	assert_int_equal(r.ledger.total.count[COUNT_send_calls], 2);
	assert_int_equal(r.ledger.total.count[COUNT_returned_bytes], 2 * CHUNK);
	assert_int_equal(r.ledger.socket_count, 2);
	assert_true(r.window_ns);
	window_free(&w);
	record_free(&r);
	pair_close(&p);
}

TEST(more_sockets_than_64_have_books_of_their_own)
{
	struct pair p[PAIRS];
	struct window w;
	struct record r;

	for (int i = 0; i < PAIRS; i++)
		p[i] = pair_open();
	window_on_this_process(&w, &r, 2 * PAIRS);
	window_open(&w);
	for (int i = 0; i < PAIRS; i++)
		pair_pass(&p[i]);
	window_close(&w, &r);
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(r.ledger.socket_count, 2 * PAIRS);
	assert_int_equal(r.ledger.gauges.lost_updates, 0);
	for (int i = 0; i < 2 * PAIRS; i++) {
		const unsigned long long *n = r.ledger.sockets[i].books.count;

		assert_int_equal(n[COUNT_accepted_bytes] + n[COUNT_returned_bytes], CHUNK);
	}
	window_free(&w);
	record_free(&r);
	for (int i = 0; i < PAIRS; i++)
		pair_close(&p[i]);
}
