// SPDX-License-Identifier: GPL-2.0
/* A random program of calls of UDP sockets, see tests/fuzz/program/program.c: which there are, and how often. */
#include <stddef.h>

#include "tests/fuzz/udp/udp.h"

const struct call calls[] = {
	{ "send", call_send, 30, SENDS | COPIES },
	{ "send_messages", call_send_messages, 8, SENDS | COPIES },
	{ "segments", call_segments, 8, SENDS | COPIES },
	{ "zerocopy", call_zerocopy, 20, SENDS | REFERENCES },
	{ "sendfile", call_sendfile, 8, SENDS | SPLICES },
	{ "recv", call_recv, 40, RECEIVES },
	{ "recv_messages", call_recv_messages, 15, RECEIVES },
	{ "peek", call_peek, 10, RECEIVES },
	{ "peek_trunc", call_peek_trunc, 3, RECEIVES },
	{ "trunc", call_trunc, 3, RECEIVES },
	{ "error_queue", call_error_queue, 8, 0 },
	{ "connect", call_connect, 5, NO_SOCKET | CONNECTS },
	{ "close", call_close, 3, SENDS | RECEIVES },
	{ "dup", call_dup, 2, SENDS | RECEIVES },
	{ "pass", call_pass, 2, SENDS | RECEIVES },
	{ "unix", call_unix, 2, NO_SOCKET },
	{ "sleep", call_sleep, 3, NO_SOCKET },
	{ "fork", call_fork, 2, NO_SOCKET },
	{ NULL, NULL, 0, 0 },
};
