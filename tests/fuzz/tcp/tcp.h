/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of random_tcp share beside what any random program has. Each call is of socket i. */
#ifndef TESTS_FUZZ_TCP_TCP_H
#define TESTS_FUZZ_TCP_TCP_H

#include "tests/fuzz/program/program.h"

void call_send(int i);
void call_send_fault(int i);
void call_zerocopy(int i);
void call_sendfile(int i);
void call_splice(int i);
void call_urgent(int i);
void call_recv(int i);
void call_recv_fault(int i);
void call_peek(int i);
void call_peek_fault(int i);
void call_trunc(int i);
void call_peek_trunc(int i);
void call_splice_out(int i);
void call_map(int i);
void call_recv_urgent(int i);
void call_ring_send(int i);
void call_ring_receive(int i);
void call_self(int i);
void call_close(int i);
void call_shutdown(int i);
void call_connect_anew(int i);
void call_option(int i);

/* sends.c */
bool pipe_of_any_room(int ends[2]);	/* of one that does not wait; false: there is none */

/* connections.c */
void find_other(int i);		/* by its ports: several processes may accept from one listener */
void mark_retransmitted(int i);

/* ring.c */
void forget_ring(void);
#endif
