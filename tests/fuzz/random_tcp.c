// SPDX-License-Identifier: GPL-2.0
/* A random program of calls of TCP sockets, see tests/fuzz/program/program.c: which there are, and how often. */
#include <stddef.h>

#include "tests/fuzz/tcp/tcp.h"

const struct call calls[] = {
	{ "send", call_send, 30, SENDS | COPIES },
	{ "send_fault", call_send_fault, 3, SENDS },
	{ "zerocopy", call_zerocopy, 25, SENDS | REFERENCES },
	{ "sendfile", call_sendfile, 10, SENDS | SPLICES },
	{ "splice", call_splice, 10, SENDS | SPLICES },
	{ "urgent", call_urgent, 2, SENDS },
	{ "recv", call_recv, 45, RECEIVES },
	{ "recv_fault", call_recv_fault, 3, RECEIVES },
	{ "peek", call_peek, 6, RECEIVES },
	{ "peek_fault", call_peek_fault, 1, RECEIVES },
	{ "trunc", call_trunc, 5, RECEIVES },
	{ "peek_trunc", call_peek_trunc, 2, RECEIVES },
	{ "splice_out", call_splice_out, 10, RECEIVES },
	{ "map", call_map, 3, RECEIVES },
	{ "recv_urgent", call_recv_urgent, 2, RECEIVES },
	{ "error_queue", call_error_queue, 6, 0 },
	{ "ring_send", call_ring_send, 8, SENDS },
	{ "ring_receive", call_ring_receive, 8, RECEIVES },
	{ "connect", call_connect, 6, NO_SOCKET | CONNECTS },
	{ "self", call_self, 1, NO_SOCKET | CONNECTS },
	{ "close", call_close, 3, SENDS | RECEIVES },
	{ "shutdown", call_shutdown, 2, SENDS | RECEIVES },
	{ "connect_anew", call_connect_anew, 2, SENDS | RECEIVES },
	{ "dup", call_dup, 2, SENDS | RECEIVES },
	{ "pass", call_pass, 2, SENDS | RECEIVES },
	{ "option", call_option, 15, 0 },
	{ "unix", call_unix, 2, NO_SOCKET },
	{ "sleep", call_sleep, 3, NO_SOCKET },
	{ "fork", call_fork, 2, NO_SOCKET },
	{ NULL, NULL, 0, 0 },
};

void begin_child(void)
{
	forget_ring();
}

void end_phase(void)
{
	for (int i = 0; i < all->sockets; i++)
		if (is_open(i))
			mark_retransmitted(i);
}
