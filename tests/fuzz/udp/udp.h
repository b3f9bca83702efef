/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of random_udp share beside what any random program has. Each call is of socket i. */
#ifndef TESTS_FUZZ_UDP_UDP_H
#define TESTS_FUZZ_UDP_UDP_H

#include "tests/fuzz/program/program.h"

enum { DATAGRAM_BYTES_MAX = 65507, MESSAGES_MAX = 4 };

void call_send(int i);
void call_send_messages(int i);
void call_segments(int i);
void call_zerocopy(int i);
void call_sendfile(int i);
void call_recv(int i);
void call_recv_messages(int i);
void call_peek(int i);
void call_peek_trunc(int i);
void call_trunc(int i);
void call_close(int i);

/* sockets.c: of one datagram, around what one packet holds */
unsigned some_datagram(void);
#endif
