# SPDX-License-Identifier: GPL-2.0
"""Wrong changes of the laws of a watch, which C programs find."""
from __future__ import annotations

from .change import Change

LAWS, TLS, FATE, SOCKET, JUDGE = (f"userspace/watch/books/{name}.c" for name in (
    "books_laws", "books_tls", "books_fate", "books_socket", "watch_judge"))
TABLE = "userspace/record/laws.h"
UNIT = "build/tests/unit"
BOOKS, OF_TLS, OF_FATE, DATAGRAMS = (f"{UNIT}/watch_{name}_test" for name in ("books", "tls", "fate", "datagrams"))

OF_WATCHES = (
    Change("watch: send queue", LAWS, "\t\t.right = book->past_sent + to.sent - from.sent + to.unsent,",
           "\t\t.right = to.sent - from.sent + to.unsent,",
           "earlier lives of a socket sent nothing", (BOOKS,)),
    Change("watch: receive queue", LAWS, "moved.right - m->count[COUNT_peeked_bytes];", "moved.right;",
           "what was peeked counts as taken", (BOOKS, OF_FATE)),
    Change("watch: reference queue", LAWS, "book->slot.sent_referenced + last->unsent_referenced_bytes;", "book->slot.sent_referenced;",
           "user pages that wait in the queue are no term", (BOOKS, OF_FATE)),
    Change("watch: completion", LAWS, "\tsides.left = s->opening.item[WATCH_zerocopy_sends] + moved.left;",
           "\tsides.left = moved.left;",
           "what was outstanding at the opening is no term", (BOOKS, OF_FATE)),
    Change("watch: sends of before", "bpf/completions.bpf.c", "if (!slot || send.moved_ns < slot->opened_ns)", "if (!slot)",
           "a notification of io_uring's is of the window when its send is of before",
           ("tests/host/test_watch_odd.py among_all uring_zero_copy_as_the_window_opens life",)),
    Change("watch: copied", "userspace/judge/copied.c", "{ t->copied, t->completed };", "{ t->copied, t->copied };",
           "completions are held against themselves", (OF_FATE,)),
    Change("watch: sends", LAWS, "return sides_of_calls(s, book, hooked, s->moved.count[COUNT_accepted_bytes],",
           "return sides_of_calls(s, book, hooked, s->moved.count[COUNT_returned_bytes],",
           "received bytes stand for sent ones", (BOOKS, OF_FATE)),
    Change("watch: receives", LAWS, "\tif (hooked->calls && copies_are_unsettled(book))\n\t\treturn watch_not_known(COPIED_ODDLY);\n\tsides = sides_of_calls",
           "\tsides = sides_of_calls",
           "copies that no receive returned do not make it untestable", (BOOKS,)),
    Change("watch: a call under way", LAWS, "\tif (!s->whole && by_sequence != by_calls)\n", "\tif (by_sequence != by_calls)\n",
           "no difference ever breaks the laws of calls", (BOOKS,)),
    Change("watch: datagrams sent", LAWS, "\t\t.right = slot->handed_over + book->now.unsent,", "\t\t.right = slot->handed_over,",
           "a datagram that is not whole is no term", (DATAGRAMS,)),
    Change("watch: datagrams received", LAWS, "slot->rx_peeked + slot->rx_cut + book->now.unread,", "slot->rx_peeked + book->now.unread,",
           "what found no room in the reader's buffer is no term", (DATAGRAMS,)),
    Change("watch: datagrams referenced", LAWS, "\t\t.left = m->site[SITE_tx_reference].bytes,\n\t\t.right = book->slot.sent_referenced,",
           "\t\t.left = m->site[SITE_tx_reference].bytes,\n\t\t.right = m->site[SITE_tx_reference].bytes,",
           "references are held against themselves", (DATAGRAMS,)),
    Change("watch: TLS send", TABLE, "{ SITE(tls_copy), SITE(tls_reference), SITE(tls_splice) }", "{ SITE(tls_copy), SITE(tls_splice) }",
           "what was referenced for kernel TLS is no term", (OF_TLS,)),
    Change("watch: TLS encryption", TLS, "tls->first.open + moved.left,", "moved.left,",
           "plaintext of a record that was open at first is no term", (OF_TLS,)),
    Change("watch: TLS records sent", TLS, "\t\t.left = moved.left + tls->now.queued,", "\t\t.left = moved.left,",
           "records that wait for TCP are no term", (OF_TLS,)),
    Change("watch: TLS records received", TLS, "\t\t\t.right = moved.right + tls->now.collected,", "\t\t\t.right = moved.right,",
           "pieces of a record that are collected are no term", (OF_TLS,)),
    Change("watch: sizes", JUDGE, "s->told_bytes += way == CALL_RECV_PEEK ? 0 : size_sum(&s->all[i], way).bytes;",
           "s->told_bytes += size_sum(&s->all[i], way).bytes;",
           "peeks count as receives", (f"{UNIT}/sizes_law_test",)),
    Change("watch: stacks", JUDGE, ".right = s->stacked_bytes + s->unstacked_bytes,", ".right = s->stacked_bytes,",
           "bytes of calls whose stack is not kept are no term", (f"{UNIT}/stacks_law_test",)),
    Change("watch: probes", "userspace/watch/window.c", "if (law->residual || (!r->unseen_events && !r->unopened_sockets))",
           "if (law->residual || !r->unopened_sockets)",
           "moments that no program saw leave it balanced", ("tests/host/test_watch_lives.py test_sockets_that_no_program_saw",)),
    Change("watch: a FIN that is sent", FATE, "\t\t.unsent = r->unsent - (r->fin_queued && r->unsent),", "\t\t.unsent = r->unsent,",
           "a FIN in the queue is a byte", (BOOKS,)),
    Change("watch: needlessly copied", FATE,
           "fate.later = least(less(later, book->opened.referenced_bytes), most_copied_later(book, m, handed));",
           "fate.later = least(later, most_copied_later(book, m, handed));",
           "copies of what was sent before the window are this window's", (OF_FATE,)),
    Change("watch: the open stretch", SOCKET, "\tif (book->slot.kind == kind && !(book->flags & WATCH_CLOSED))", "\tif (book->slot.kind == kind)",
           "the last stretch of a closed socket counts twice", (BOOKS,)),
)
