// SPDX-License-Identifier: GPL-2.0
/* The verdict on a watched process says what was counted, and never more. */
#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/sentence.h"

static struct made_watch m;

/* The sentence beside the verdict that the numbers have. */
static void expect(struct made_watch *m, const char *sentence)
{
	char text[SENTENCE_BYTES];

	m->process[0].verdict = watch_verdict(&m->process[0].sum);
	sentence_of_process(&m->r, &m->process[0], text);
	assert_string_equal(text, sentence);
}

static void forget_site(struct made_watch *m, enum site site, const char *why)
{
	made_moved(m)->sites_known &= ~(1u << site);
	strcpy(m->r.sites[site].why, why);
}

static void forget_count(struct made_watch *m, enum count count)
{
	made_moved(m)->counts_known &= ~(1ull << count);
}

TEST(what_moved_nothing_is_said_to)
{
	made_watch(&m);
	expect(&m, "moved no payload over TCP or UDP.");
}

TEST(sockets_that_no_book_covers_are_named)
{
	made_watch(&m);
	m.r.uncovered[WATCH_UNCOVERED_UNIX] = 2;
	m.r.uncovered[WATCH_UNCOVERED_XDP] = 1;
	expect(&m, "moved no payload over TCP or UDP; what passed 2 UNIX sockets, 1 AF_XDP socket is not in these numbers.");
	m.r.process_count = 2;
	expect(&m, "moved no payload over TCP or UDP; what passed 2 UNIX sockets, 1 AF_XDP socket of the watched processes "
	       "is not in these numbers.");
}

static void plain(struct made_watch *m, uint64_t sent, uint64_t received)
{
	made_watch(m);
	made_moved(m)->count[COUNT_accepted_bytes] = made_moved(m)->site[SITE_tx_copy].bytes = sent;
	made_moved(m)->count[COUNT_returned_bytes] = made_moved(m)->site[SITE_rx_copy].bytes = received;
}

TEST(plain_calls_copy_everything)
{
	plain(&m, 3000000, 0);
	expect(&m, "send copied all of 3.00 MB; it asked for no zero copy.");
	plain(&m, 3000000, 1000);
	expect(&m, "send copied all of 3.00 MB; it asked for no zero copy. It received 1.00 kB, all copied by "
	       "recv.");
	plain(&m, 0, 1000);
	expect(&m, "received 1.00 kB, all copied by recv.");
}

/* No flag of a send is read in a watch: it may have passed MSG_ZEROCOPY without SO_ZEROCOPY. */
TEST(that_it_asked_for_nothing_is_said_only_if_flags_were_seen)
{
	plain(&m, 3000000, 0);
	forget_count(&m, COUNT_unset_sends);
	expect(&m, "send copied all of 3.00 MB; it sent no byte by reference.");
	plain(&m, 3000000, 0);
	forget_count(&m, COUNT_zerocopy_asked_sends);
	expect(&m, "send copied all of 3.00 MB; it sent no byte by reference.");
}

TEST(the_larger_direction_leads)
{
	plain(&m, 529, 315000000);
	expect(&m, "received 315 MB, all copied by recv. Send copied all of 529 B; it asked for no zero copy.");
	made_moved(&m)->site[SITE_tx_copy].bytes = 0;
	made_moved(&m)->site[SITE_tx_reference].bytes = made_moved(&m)->fate.uncopied = 529;
	made_moved(&m)->count[COUNT_zerocopy_asked_sends] = 2;
	expect(&m, "received 315 MB, all copied by recv. It asked for zero copy in 2 sends: 529 B was sent by "
	       "reference, and all of it was handed over as pages.");
}

TEST(hints_to_a_program_that_copies_are_what_its_sockets_show)
{
	plain(&m, 3000000, 0);
	forget_count(&m, COUNT_unset_sends);
	made_moved(&m)->count[COUNT_send_calls] = 100;
	m.process[0].sum.sent_here_bytes = 2999999;
	expect(&m, "send copied all of 3.00 MB; it sent no byte by reference; its sends were of 30.0 kB on "
	       "average.");
	forget_count(&m, COUNT_send_calls);
	m.process[0].sum.sent_here_bytes++;
	expect(&m, "send copied all of 3.00 MB; it sent no byte by reference; its receivers are on this "
	       "machine, where bytes by MSG_ZEROCOPY are copied, too, and those that sendfile or splice sends are not "
	       "(results/matrix, path lo).");
}

TEST(records_of_kernel_tls_that_went_by_reference_are_not_denied)
{
	plain(&m, 3000000, 0);
	forget_count(&m, COUNT_unset_sends);
	made_moved(&m)->site[SITE_tx_copy].bytes = 400;
	made_moved(&m)->site[SITE_tx_splice].bytes = made_moved(&m)->count[COUNT_tls_carried_bytes] = 2999600;
	expect(&m, "sent 3.00 MB; < 0.1 %, 400 B, was copied by send.");
}

TEST(a_flag_without_the_option_is_named)
{
	plain(&m, 3000000, 0);
	made_moved(&m)->count[COUNT_unset_sends] = 1234;
	expect(&m, "send copied all of 3.00 MB; MSG_ZEROCOPY was ignored in 1,234 sends, because SO_ZEROCOPY "
	       "is not set.");
}

TEST(a_splice_left_without_a_copy_only_if_somebody_saw_it)
{
	plain(&m, 12300000000, 0);
	made_moved(&m)->site[SITE_tx_splice].bytes = made_moved(&m)->fate.uncopied = 12079000000;
	made_moved(&m)->site[SITE_tx_copy].bytes = 221000000;
	expect(&m, "98.2 % of 12.3 GB was spliced from the page cache or a pipe, not copied by send, and all "
	       "of it was handed over as pages; 1.8 %, 221 MB, was copied by send.");
	made_moved(&m)->fate = (struct watch_fate){ .unknown = 12079000000 };
	expect(&m, "98.2 % of 12.3 GB was spliced from the page cache or a pipe, not copied by send; whether "
	       "12.1 GB was copied behind the socket is not known (no device was seen to take them as "
	       "pages, or one may have copied them unseen, as for an XDP program, or they left before their packets were "
	       "watched); 1.8 %, 221 MB, was copied by send.");
}

TEST(what_the_kernel_itself_spliced_is_from_no_page_cache)
{
	plain(&m, 12300000000, 0);
	made_moved(&m)->site[SITE_tx_splice].bytes = made_moved(&m)->fate.uncopied = 12300000000;
	made_moved(&m)->site[SITE_tx_copy].bytes = 0;
	made_moved(&m)->spliced_in_kernel = 12300000000;
	expect(&m, "100 % of 12.3 GB was spliced from memory of the kernel, which sent it itself, not copied by send, and all "
	       "of it was handed over as pages.");
	made_moved(&m)->spliced_in_kernel = 300000000;
	expect(&m, "100 % of 12.3 GB was spliced from the page cache, a pipe or memory of the kernel, not copied by send, and "
	       "all of it was handed over as pages.");
}

TEST(notifications_that_all_say_copied_are_told_where_nothing_else_is_known)
{
	static const char *const all = "; the kernel's notifications say of all 200 sends that it copied";
	char text[SENTENCE_BYTES];

	plain(&m, 3000000, 0);
	made_moved(&m)->site[SITE_tx_copy].bytes = 0;
	made_moved(&m)->site[SITE_tx_reference].bytes = made_moved(&m)->fate.unknown = 3000000;
	made_moved(&m)->count[COUNT_completed_sends] = made_moved(&m)->count[COUNT_copied_sends] = 200;
	sentence_of_process(&m.r, &m.process[0], text);
	assert_non_null(strstr(text, all));
	made_moved(&m)->unseen_completions = 1;
	sentence_of_process(&m.r, &m.process[0], text);
	assert_null(strstr(text, all));
	made_moved(&m)->unseen_completions = 0;
	made_moved(&m)->count[COUNT_copied_sends] = 199;
	sentence_of_process(&m.r, &m.process[0], text);
	assert_null(strstr(text, all));
}

static void in_vain(struct made_watch *m)
{
	plain(m, 9000000, 0);
	made_moved(m)->count[COUNT_zerocopy_asked_sends] = 41200;
	made_moved(m)->site[SITE_tx_copy].bytes = 0;
	made_moved(m)->site[SITE_tx_reference].bytes = 9000000;
	made_moved(m)->site[SITE_late_copy].bytes = 9000000;
	made_moved(m)->fate.later = 9000000;
	made_moved(m)->late_by_delivery_bytes = 9000000;
}

#define IN_VAIN "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference, and all of it was copied " \
		"after all"

TEST(zero_copy_in_vain_has_its_cause)
{
	in_vain(&m);
	expect(&m, IN_VAIN ", because the receiver is local.");
	made_moved(&m)->late_by_delivery_bytes = 0;
	expect(&m, IN_VAIN ", where its packets arrived on this machine: at a receiver, a router or a packet "
	       "capture (which of them was not measured).");
	made_moved(&m)->late_by_tun_bytes = 5000000;
	expect(&m, IN_VAIN ", most of it because of tun: a tun or tap device, or vhost behind it, copies every "
	       "byte: route or bridge around it.");
}

/* As with a capture beside a local receiver: its end alone saves no copy. */
TEST(two_causes_that_each_copy_all_of_it_are_both_named)
{
	in_vain(&m);
	made_moved(&m)->site[SITE_late_copy].bytes = 18000000;
	made_moved(&m)->late_by_tap_bytes = 9000000;
	expect(&m, IN_VAIN ", because of local delivery and of packet tap on tx: without one of them the other copies it "
	       "still; late_copy is 200.0 % of tx_reference: packets also carry plain bytes, are sent again, or are copied for "
	       "captures.");
	made_moved(&m)->late_by_delivery_bytes = 8999999;
	made_moved(&m)->site[SITE_late_copy].bytes = 17999999;
	made_moved(&m)->fate.later = 9000000;
	expect(&m, IN_VAIN ", because of packet tap on tx: stop the packet capture, or bind it to another interface; with "
	       "6.18 or later run it in another network namespace; late_copy is 200.0 % of tx_reference: packets also carry "
	       "plain bytes, are sent again, or are copied for captures.");
}

/* Without a hook in each call those are known that the kernel obeyed; and of io_uring not even these. */
TEST(sends_that_nobody_counted_are_at_least_those_that_got_it)
{
	in_vain(&m);
	forget_count(&m, COUNT_zerocopy_asked_sends);
	made_moved(&m)->count[COUNT_zerocopy_sends] = 41199;
	expect(&m, "asked for zero copy in at least 41,199 sends: 9.00 MB was sent by reference, and all of it "
	       "was copied after all, because the receiver is local.");
	made_moved(&m)->count[COUNT_zerocopy_sends] = 0;
	expect(&m, "asked for zero copy: 9.00 MB was sent by reference, and all of it was copied after all, "
	       "because the receiver is local.");
}

/* Two that ask for zero copy meet different things. */
TEST(each_process_has_a_cause_of_its_own)
{
	in_vain(&m);
	m.process[1] = m.process[0];
	m.r.process_count = 2;
	m.process[1].sum.moved.late_by_delivery_bytes = 0;
	m.process[1].sum.moved.late_by_tap_bytes = 9000000;
	expect(&m, IN_VAIN ", because the receiver is local.");
	m.process[0] = m.process[1];
	expect(&m, IN_VAIN ", because of packet tap on tx: stop the packet capture, or bind it to another "
	       "interface; with 6.18 or later run it in another network namespace.");
}

/* Packets that are copied carry plain bytes, too, and may be sent again. */
TEST(more_late_copies_than_references_are_explained)
{
	in_vain(&m);
	made_moved(&m)->site[SITE_late_copy].bytes = made_moved(&m)->late_by_delivery_bytes = 9144000;
	expect(&m, IN_VAIN ", because the receiver is local; late_copy is 101.6 % of tx_reference: packets also "
	       "carry plain bytes, are sent again, or are copied for captures.");
	assert_int_equal(figure_needless(made_moved(&m)).bytes, 9000000);
}

TEST(references_that_nobody_followed_are_not_called_clean)
{
	in_vain(&m);
	made_moved(&m)->site[SITE_late_copy].bytes = 0;
	made_moved(&m)->fate = (struct watch_fate){ .uncopied = 9000000 };
	expect(&m, "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference, and all of it was handed "
	       "over as pages.");
	made_moved(&m)->fate = (struct watch_fate){ .uncopied = 4500000, .unknown = 4500000, .held = 500000 };
	expect(&m, "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; 50.0 % of it was handed "
	       "over as pages; whether 4.00 MB was copied behind the socket is not known (no device was "
	       "seen to take them as pages, or one may have copied them unseen, as for an XDP program, or they left before "
	       "their packets were watched); 500 kB of it had not left yet.");
	made_moved(&m)->fate = (struct watch_fate){ .unknown = 9000000 };
	forget_site(&m, SITE_late_copy, "nobody looked");
	expect(&m, "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was "
	       "copied behind the socket is not known (nobody looked).");
}

/* In place of a reason that is none. */
TEST(packets_that_no_program_saw_are_told_by_their_number)
{
	in_vain(&m);
	made_moved(&m)->site[SITE_late_copy].bytes = 0;
	made_moved(&m)->fate = (struct watch_fate){ .unknown = 9000000 };
	m.r.probe_count = 1;
	m.r.probes[0] = (struct probe){ .metric = "late_copy", .missed_hits = 3 };
	forget_site(&m, SITE_late_copy, "the kernel skipped a program for packets");
	expect(&m, "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was "
	       "copied behind the socket is not known (the kernel skipped a program for packets); of this machine's "
	       "packets and notifications, 3 passed while the kernel ran no program.");
}

TEST(of_packets_that_no_program_saw_a_bound_is_told)
{
	plain(&m, 200000000, 0);
	made_moved(&m)->site[SITE_tx_splice].bytes = made_moved(&m)->fate.uncopied = 200000000;
	made_moved(&m)->site[SITE_tx_copy].bytes = 0;
	made_moved(&m)->fate.unsure = 150000000;
	m.r.probe_count = 1;
	m.r.probes[0] = (struct probe){ .metric = "late_copy", .missed_hits = 3 };
	expect(&m, "100 % of 200 MB was spliced from the page cache or a pipe, not copied by send, and all of it was handed "
	       "over as pages; of that, at most 1.57 MB may have been copied, in 3 packets or notifications of this machine "
	       "that no program saw.");
	assert_int_equal(watch_verdict(&m.process[0].sum), VERDICT_NOT_KNOWN);
	/* Never more than rests on what was not seen. */
	made_moved(&m)->fate.unsure = 1000;
	assert_int_equal(watch_unseen_most(&m.r, &made_moved(&m)->fate), 1000);
	m.r.probe_count = 0;
	assert_int_equal(watch_unseen_most(&m.r, &made_moved(&m)->fate), 0);
}

/* The total has no such socket, and so no reason. */
TEST(what_one_process_lacks_has_a_reason_although_the_whole_has_it)
{
	plain(&m, 0, 1000);
	forget_count(&m, COUNT_returned_bytes);
	strcpy(m.r.count_why[COUNT_returned_bytes], "nobody looked");
	expect(&m, "how much was read is not known (nobody looked).");
	*m.r.count_why[COUNT_returned_bytes] = '\0';
	expect(&m, "how much was read is not known (for one of its sockets nobody counted it).");
	m.r.unopened_sockets = 1;
	expect(&m, "how much was read is not known (one of its sockets lay in a network namespace that was not entered, or moved "
	       "datagrams before their hooks were attached).");
}

TEST(a_refusal_names_its_limit)
{
	made_watch(&m);
	made_moved(&m)->count[COUNT_zerocopy_asked_sends] = 100;
	made_moved(&m)->count[COUNT_enobufs] = 60;
	made_moved(&m)->count[COUNT_refused_optmem] = 60;
	expect(&m, "asked for zero copy in 100 sends; the kernel refused 60 of these sends with ENOBUFS, for "
	       "want of option memory: read completions sooner, or raise net.core.optmem_max.");
	forget_count(&m, COUNT_zerocopy_asked_sends);
	forget_count(&m, COUNT_refused_optmem);
	expect(&m, "the kernel refused 60 sends by MSG_ZEROCOPY with ENOBUFS.");
}

TEST(what_was_peeked_is_told_apart)
{
	plain(&m, 0, 753);
	made_moved(&m)->site[SITE_rx_copy].bytes = 754;
	expect(&m, "received 753 B, all copied by recv, 1 B of it again (MSG_PEEK).");
	/* A splice behind a peek looks the same where nothing counts splices. */
	forget_site(&m, SITE_rx_splice, "bytes were peeked");
	made_moved(&m)->passed_unknown = 1;
	expect(&m, "received 753 B; recv copied 754 B; whether some left the socket another way was not measured "
	       "(bytes were peeked).");
}

/* As a proxy does that looks at the first bytes and splices all. */
TEST(peeks_before_a_splice_are_no_read)
{
	plain(&m, 0, 1000);
	made_moved(&m)->site[SITE_rx_splice].bytes = made_moved(&m)->passed_bytes = 1000;
	expect(&m, "received 1.00 kB; peeks copied 1.00 kB (MSG_PEEK); 100 % was spliced out.");
	made_moved(&m)->site[SITE_rx_splice].bytes = made_moved(&m)->passed_bytes = 400;
	expect(&m, "received 1.00 kB; recv copied 600 B; peeks copied 400 B (MSG_PEEK); 40.0 % was spliced out.");
}

TEST(pages_that_were_spliced_or_mapped_are_not_called_one_of_them)
{
	plain(&m, 0, 1000);
	made_moved(&m)->site[SITE_rx_copy].bytes = 300;
	made_moved(&m)->site[SITE_rx_splice].bytes = made_moved(&m)->passed_bytes = 700;
	expect(&m, "received 1.00 kB; recv copied 300 B; 70.0 % was spliced out.");
	forget_site(&m, SITE_rx_map, "no tracepoint tells");
	forget_site(&m, SITE_rx_splice, "no tracepoint tells");
	expect(&m, "received 1.00 kB; recv copied 300 B; 70.0 % was spliced out or mapped.");
}

TEST(what_is_not_plain_TCP_is_named_and_not_counted)
{
	made_watch(&m);
	m.process[0].sum.other[WATCH_LAYER_KTLS] = (struct watch_other){ 3, 4000000, 10000 };
	expect(&m, "moved no payload of plain TCP or UDP; 3 sockets of kernel TLS carried 4.01 MB, which are not in "
	       "these numbers.");
	made_moved(&m)->count[COUNT_accepted_bytes] = made_moved(&m)->site[SITE_tx_copy].bytes = 50;
	m.process[0].sum.other[WATCH_LAYER_REPAIR].sockets = 1;
	expect(&m, "send copied all of 50 B; it asked for no zero copy; 3 sockets of kernel TLS carried 4.01 MB, "
	       "which are not in these numbers; 1 socket of TCP_REPAIR carried bytes that cannot be counted, "
	       "which are not in these numbers.");
	made_watch(&m);
	m.process[0].sum.other[WATCH_LAYER_MPTCP] = (struct watch_other){ 2, 5000000, 0 };
	expect(&m, "moved no payload of plain TCP or UDP; 2 sockets of MPTCP carried 5.00 MB, which are not in these numbers "
	       "(MPTCP copies whatever it is given to send, by sendfile and MSG_ZEROCOPY, too).");
}

/* What its program redirects to the queue of another socket no number has. */
TEST(what_a_sockmap_carried_is_told_as_the_least_that_it_may_be)
{
	made_watch(&m);
	m.process[0].sum.other[WATCH_LAYER_SOCKMAP].sockets = 2;
	expect(&m, "moved no payload of plain TCP or UDP; 2 sockets of sockmap carried bytes that cannot be counted, which "
	       "are not in these numbers.");
	m.process[0].sum.other[WATCH_LAYER_SOCKMAP].sent_bytes = 4000000;
	expect(&m, "moved no payload of plain TCP or UDP; 2 sockets of sockmap carried at least 4.00 MB, which are not in "
	       "these numbers.");
}

TEST(a_socket_that_was_handed_on_is_told)
{
	plain(&m, 30000, 0);
	m.process[0].sum.handed_on = 1;
	expect(&m, "send copied all of 30.0 kB; it asked for no zero copy; another process used 1 socket of these "
	       "before, and its bytes are in these numbers.");
}
