// SPDX-License-Identifier: GPL-2.0
/* Claims about a window on a process that copyscope did not start: this one. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "userspace/common/system/global_tgid.h"
#include "userspace/judge/causes/causes.h"
#include "userspace/judge/laws/laws.h"
#include "userspace/judge/outcome.h"
#include "userspace/judge/sites.h"
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

static void assert_same_books(const struct ledger *a, const struct ledger *b)
{
	assert_memory_equal(&a->total, &b->total, sizeof(a->total));
	assert_int_equal(a->socket_count, b->socket_count);
	assert_int_equal(a->stack_count, b->stack_count);
	assert_memory_equal(&a->gauges, &b->gauges, sizeof(a->gauges));
}

static void a_window_is_read_as_often_as_one_likes(void **state)
{
	struct ledger first, between;
	struct pair p = pair_open();
	struct window w;
	struct record r;

	window_on_this_process(&w, &r, 2);
	pair_pass(&p);	/* before it is open: nobody counts it */
	window_open(&w);
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(r.ledger.total.count[COUNT_accepted_bytes], 0);
	pair_pass(&p);
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(ledger_copy(&first, &r.ledger), 0);
	assert_int_equal(window_read(&w, &r), 0);
	assert_same_books(&r.ledger, &first);
	assert_int_equal(first.total.count[COUNT_accepted_bytes], CHUNK);
	assert_int_equal(first.total.count[COUNT_returned_bytes], CHUNK);
	assert_int_equal(first.socket_count, 2);
	pair_pass(&p);
	pair_pass(&p);
	window_close(&w, &r);
	pair_pass(&p);	/* after it was closed, too */
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(r.ledger.total.count[COUNT_accepted_bytes], 3 * CHUNK);
	assert_int_equal(ledger_difference(&r.ledger, &first, &between), 0);
	assert_int_equal(between.total.count[COUNT_accepted_bytes], 2 * CHUNK);
	assert_int_equal(between.total.count[COUNT_send_calls], 2);
	ledger_free(&between);
	ledger_free(&first);
	window_free(&w);
	record_free(&r);
	pair_close(&p);
}

static void the_books_of_a_process_that_nobody_started_balance(void **state)
{
	struct pair p = pair_open();
	struct window w;
	struct record r;

	window_on_this_process(&w, &r, 2);
	window_open(&w);
	for (int i = 0; i < 10; i++)
		pair_pass(&p);
	window_close(&w, &r);
	assert_int_equal(window_read(&w, &r), 0);
	assert_int_equal(ledger_derive(&r), 0);
	sites_fill(&r);
	outcome_decide(&r);
	causes_fill(&r);
	laws_fill(&r);
	outcome_excuse_laws(&r);
	assert_int_equal(laws_broken(&r), 0);
	assert_int_equal(r.sites[SITE_tx_copy].tally.bytes, 10 * CHUNK);
	assert_int_equal(r.sites[SITE_rx_copy].tally.bytes, 10 * CHUNK);
	window_free(&w);
	record_free(&r);
	pair_close(&p);
}

static void more_sockets_than_64_have_books_of_their_own(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_read_as_often_as_one_likes),
		cmocka_unit_test(the_books_of_a_process_that_nobody_started_balance),
		cmocka_unit_test(more_sockets_than_64_have_books_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
