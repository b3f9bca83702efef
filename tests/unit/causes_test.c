// SPDX-License-Identifier: GPL-2.0
/* Claims about causes: the stack that led to a copy names its reason, on every kernel we know. */
#include "tests/unit/made_record.h"
#include "tests/unit/unit.h"
#include "userspace/judge/verdict.h"

/* As three kernels print them, innermost caller first. */
#define SOFTIRQ " < __netif_receive_skb_one_core < process_backlog < __napi_poll < net_rx_action"
#define OUTPUT " < __ip_queue_xmit < __tcp_transmit_skb < tcp_write_xmit < tcp_sendmsg_locked"

#define LATE SITE_late_copy
#define MOVE SITE_reshape

static const struct {
	const char *kernel;
	enum site site;
	unsigned int circumstances;
	const char *stack, *cause;
} stacks[] = {
	/* Up to 6.12 everything that arrives is copied in one function, for whoever is first. */
	{ "6.1", LATE, 0, "__netif_receive_skb_core" SOFTIRQ, "local delivery" },
	{ "6.12", LATE, 0, "__netif_receive_skb_core.constprop.0" SOFTIRQ, "local delivery" },
	{ "6.12", LATE, COPIED_ELSEWHERE, "__netif_receive_skb_core.constprop.0" SOFTIRQ,
	  "forwarding hop" },
	{ "6.12", LATE, COPIED_TAPPED, "__netif_receive_skb_core.constprop.0" SOFTIRQ,
	  "packet tap on rx" },
	{ "6.12", LATE, COPIED_TAPPED | COPIED_ELSEWHERE, "__netif_receive_skb_core" SOFTIRQ,
	  "packet tap on rx" },
	{ "6.12", LATE, COPIED_UNSURE, "__netif_receive_skb_core" SOFTIRQ,
	  "local delivery or packet tap" },
	/* Later at the local socket, where neither a capture nor a namespace matters. */
	{ "6.18", LATE, 0, "ip_local_deliver_finish < ip_local_deliver" SOFTIRQ, "local delivery" },
	{ "6.18", LATE, COPIED_TAPPED, "ip_local_deliver_finish" SOFTIRQ, "local delivery" },
	{ "6.18", LATE, 0, "ip_protocol_deliver_rcu < ip_local_deliver_finish" SOFTIRQ,
	  "local delivery" },
	{ "6.18", LATE, 0, "ip6_protocol_deliver_rcu < ip6_input_finish" SOFTIRQ, "local delivery" },
	{ "6.18", LATE, 0, "ip6_input_finish < ip6_input" SOFTIRQ, "local delivery" },
	{ "6.18", LATE, COPIED_TAPPED, "__netif_receive_skb_core.constprop.0" SOFTIRQ,
	  "packet tap on rx" },
	/* A watch does not know where the other end lives. */
	{ "6.12", LATE, COPIED_ANYWHERE, "__netif_receive_skb_core.constprop.0" SOFTIRQ,
	  "arrival on this machine" },
	{ "6.12", LATE, COPIED_ANYWHERE | COPIED_TAPPED, "__netif_receive_skb_core.constprop.0" SOFTIRQ,
	  "packet tap on rx" },
	/* A capture copies a clone on its way out; the caller further out does not decide. */
	{ "6.1", LATE, 0, "dev_queue_xmit_nit < dev_hard_start_xmit < __dev_queue_xmit" OUTPUT,
	  "packet tap on tx" },
	{ "6.12", LATE, 0, "dev_queue_xmit_nit < __netif_receive_skb_core" SOFTIRQ,
	  "packet tap on tx" },
	{ "6.12", MOVE, 0, "tpacket_rcv < dev_queue_xmit_nit < dev_hard_start_xmit" OUTPUT,
	  "packet tap on tx" },
	{ "6.12", MOVE, 0, "tpacket_rcv < __netif_receive_skb_core" SOFTIRQ, "packet tap on rx" },
	{ "6.12", LATE, 0, "tun_net_xmit < dev_hard_start_xmit < __dev_queue_xmit" OUTPUT, "tun" },
	{ "6.12", LATE, 0, "__skb_tstamp_tx < loopback_xmit < dev_hard_start_xmit" OUTPUT,
	  "tx timestamping" },
	/* What segmentation copies depends on the device. */
	{ "6.12", LATE, 0, "skb_segment < tcp_gso_segment < inet_gso_segment" OUTPUT, "segmentation" },
	{ "6.12", LATE, 0, "skb_zerocopy_clone < skb_segment" OUTPUT, "segmentation" },
	{ "6.12", MOVE, 0, "skb_segment < tcp_gso_segment < inet_gso_segment" OUTPUT,
	  "no scatter-gather" },
	{ "6.12", MOVE, 0, "__pskb_pull_tail < validate_xmit_skb < __dev_queue_xmit" OUTPUT,
	  "no scatter-gather" },
	{ "6.12", MOVE, 0, "skb_copy_bits < __pskb_pull_tail < skb_segment < tcp_gso_segment" OUTPUT,
	  "checksum in software" },
	{ "6.12", MOVE, 0, "skb_copy_bits < __pskb_pull_tail < skb_checksum_help" OUTPUT,
	  "checksum in software" },
	{ "6.12", MOVE, 0, "skb_copy_and_csum_bits < skb_segment < tcp_gso_segment" OUTPUT,
	  "no scatter-gather" },
	{ "6.12", MOVE, 0, "skb_checksum_help < validate_xmit_skb" OUTPUT, "unknown" },
	/* Kernel TLS reads the head of each record, and collects those that find no room as a whole. */
	{ "6.12", MOVE, 0, "skb_copy_bits < tls_rx_msg_size < tls_strp_check_rcv < tls_sw_recvmsg", "header parsing" },
	{ "6.12", MOVE, 0, "skb_copy_bits < tls_decrypt_sg < tls_rx_one_record < tls_sw_recvmsg", "header parsing" },
	{ "6.1", MOVE, 0, "skb_copy_bits < tls_strp_copyin < __tcp_read_sock < tls_strp_read_copy",
	  "TLS record in pieces" },
	{ "6.12", MOVE, 0, "skb_copy_bits < tls_strp_read_copy < tls_strp_check_rcv", "unknown" },
	{ "6.12", LATE, 0, "skb_zerocopy_clone < foo_clone" OUTPUT, "clone or expand" },
	{ "6.1", LATE, 0, "pskb_expand_head < skb_ensure_writable" OUTPUT, "clone or expand" },
	{ "6.18", LATE, 0, "__pskb_copy_fclone < tcp_retransmit_skb", "clone or expand" },
	{ "6.12", MOVE, 0, "skb_copy < br_flood < br_handle_frame" SOFTIRQ, "clone or expand" },
	/* A driver's names are its own; what calls it is known. */
	{ "6.1", MOVE, 0, "__pskb_pull_tail < start_xmit < dev_hard_start_xmit" OUTPUT,
	  "driver limit" },
	{ "6.1", MOVE, 0, "__pskb_pull_tail < a < b < c < dev_hard_start_xmit" OUTPUT, "unknown" },
	{ "6.12", MOVE, 0, "skb_pp_cow_data < veth_xdp_rcv_skb < veth_xdp_rcv", "XDP" },
	{ "6.1", MOVE, 0, "__pskb_pull_tail < skb_cow_data < esp_output", "IPsec" },
	{ "6.12", MOVE, 0, "tcp_collapse < tcp_prune_queue < tcp_try_rmem_schedule",
	  "receive buffer full" },
	{ "6.12", MOVE, 0, "skb_try_coalesce < tcp_try_coalesce < tcp_queue_rcv",
	  "small packets merged" },
	{ "6.1", MOVE, 0, "tcp_write_xmit < __tcp_push_pending_frames", "MTU probe" },
	{ "5.10", MOVE, 0, "__tcp_retransmit_skb < tcp_retransmit_skb", "retransmission" },
	{ "6.12", MOVE, 0, "__pskb_pull_tail < tcp_v4_rcv < ip_protocol_deliver_rcu",
	  "header parsing" },
	{ "6.12", MOVE, 0, "skb_copy_and_csum_bits < icmp_glue_bits < __ip_append_data < ip_append_data"
	  " < icmp_push_reply < __icmp_send < ip_forward", "ICMP error" },
	{ "6.12", MOVE, 0, "skb_copy_and_csum_bits < icmpv6_getfrag < __ip6_append_data < ip6_append_data"
	  " < icmp6_send < ip6_forward", "ICMP error" },
	/* A function that copies for a known reason is no reason for what others copy inside it. */
	{ "6.12", LATE, 0, "new_rx_hook < __netif_receive_skb_core" SOFTIRQ, "unknown" },
	{ "6.12", MOVE, 0, "__pskb_pull_tail < new_parser < ip_rcv_core" SOFTIRQ, "unknown" },
	{ "6.12", MOVE, 0, "ip_local_deliver_finish < ip_local_deliver" SOFTIRQ, "unknown" },
	/* Names that only begin alike are not it. */
	{ "6.18", LATE, 0, "skb_segmentation_of_tomorrow < net_rx_action", "unknown" },
	{ "6.18", LATE, 0, "tun_net_xmit2 < dev_queue_xmit_nit_ < softirq", "unknown" },
	{ "6.18", LATE, 0, "", "unknown" },
};

static struct made m;

/* A record whose only stacks are those that the test adds. */
static int bare_record(void **state)
{
	made_init(&m);
	m.r.derived.stack_count = 0;
	return 0;
}

#define TEST_OF_RECORD(name) TEST_BETWEEN(name, bare_record, NULL)

TEST(a_stack_names_its_cause_on_every_kernel)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		const struct cause *c;

		bare_record(NULL);
		made_stack(&m, stacks[i].site, stacks[i].stack, 4093)->circumstances =
			stacks[i].circumstances;
		made_judge(&m);
		c = &m.r.causes[0];
		assert_int_equal(m.r.cause_count, 1);
		assert_string_equal(c->name, stacks[i].cause);
		assert_int_equal(c->site, stacks[i].site);
		assert_true(c->bytes_known && *c->remedy);
		assert_int_equal(c->tally.bytes, 4093);
		assert_int_equal(!*c->stack, strcmp(c->name, "unknown") != 0);
	}
}

TEST_OF_RECORD(stacks_of_one_cause_are_one_line)
{
	made_stack(&m, LATE, "ip_local_deliver_finish < ip_local_deliver", 100);
	made_stack(&m, LATE, "dev_queue_xmit_nit < dev_hard_start_xmit", 7);
	made_stack(&m, LATE, "ip6_input_finish < ip6_input", 20);
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 2);
	assert_string_equal(m.r.causes[0].name, "local delivery");
	assert_int_equal(m.r.causes[0].tally.bytes, 120);
	assert_int_equal(m.r.causes[0].tally.calls, 2);
	assert_int_equal(m.r.causes[1].tally.bytes, 7);
}

/* WireGuard has the kernel cut packets though its device gathers; a switch that is on helps nobody. */
TEST(a_switch_is_named_only_where_the_device_has_it_off)
{
	static const struct {
		enum site site;
		const char *stack, *name;
		unsigned int off;
	} of[] = {
		{ MOVE, "skb_segment < tcp_gso_segment < inet_gso_segment", "switch sg on", COPIED_SG_OFF },
		{ MOVE, "__pskb_pull_tail < skb_checksum_help < xfrm_output", "switch tx on", COPIED_TX_OFF },
		{ LATE, "skb_segment < tcp_gso_segment < inet_gso_segment", "switch tso on", COPIED_TSO_OFF },
	};
	const unsigned int all = COPIED_SG_OFF | COPIED_TX_OFF | COPIED_TSO_OFF;

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct made m;

		made_init(&m);
		m.r.derived.stack_count = 0;
		made_stack(&m, of[i].site, of[i].stack, 100)->circumstances = all & ~of[i].off;
		made_judge(&m);
		assert_null(strstr(m.r.causes[0].remedy, of[i].name));
		made_stack(&m, of[i].site, of[i].stack, 50)->circumstances = of[i].off;
		made_stack(&m, of[i].site, of[i].stack, 50);
		made_judge(&m);
		assert_int_equal(m.r.cause_count, 1);
		assert_non_null(strstr(m.r.causes[0].remedy, of[i].name));
	}
}

TEST_OF_RECORD(an_unknown_stack_is_shown_and_never_summed)
{
	made_stack(&m, LATE, "quantum_tunnel_xmit < dev_hard_start_xmit", 5);
	made_stack(&m, LATE, "another_tunnel_xmit < dev_hard_start_xmit", 6);
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 2);
	assert_string_equal(m.r.causes[0].stack, "another_tunnel_xmit < dev_hard_start_xmit");
	assert_string_equal(m.r.causes[1].stack, "quantum_tunnel_xmit < dev_hard_start_xmit");
	assert_int_equal(m.r.causes[1].tally.bytes, 5);
	assert_non_null(strstr(m.r.causes[0].remedy, "report this stack"));
}

TEST_OF_RECORD(a_flag_without_the_option_is_a_cause_of_plain_copies)
{
	made_tx(&m, 1)->count[COUNT_unset_sends] = 3;
	made_tx(&m, 1)->count[COUNT_unset_bytes] = 777;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].name, "SO_ZEROCOPY not set");
	assert_int_equal(m.r.causes[0].site, SITE_tx_copy);
	assert_int_equal(m.r.causes[0].tally.bytes, 777);
	assert_int_equal(m.r.causes[0].tally.calls, 3);
}

TEST_OF_RECORD(an_unknown_stack_ends_where_the_kernel_was_interrupted)
{
	made_stack(&m, LATE, "new_rx_hook < net_rx_action < handle_softirqs < irq_exit_rcu", 5);
	made_stack(&m, LATE, "new_rx_hook < net_rx_action < handle_softirqs < do_softirq", 6);
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].stack, "new_rx_hook");
	assert_int_equal(m.r.causes[0].tally.bytes, 11);
}

TEST_OF_RECORD(a_refused_send_is_a_cause_without_bytes)
{
	made_tx(&m, 0)->count[COUNT_enobufs] = 4;
	made_tx(&m, 0)->count[COUNT_refused_optmem] = 1;
	made_tx(&m, 0)->count[COUNT_refused_memlock] = 3;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 2);
	assert_string_equal(m.r.causes[0].name, "ENOBUFS, memlock");
	assert_int_equal(m.r.causes[0].tally.calls, 3);
	assert_string_equal(m.r.causes[1].name, "ENOBUFS, optmem");
	assert_int_equal(m.r.causes[1].tally.calls, 1);
	assert_false(m.r.causes[0].bytes_known || m.r.causes[1].bytes_known);
}

TEST(which_limit_refused_is_not_guessed)
{
	static const char *const missing[] = { "refusals", "optmem" };

	for (int i = 0; i < 2; i++) {
		bare_record(NULL);
		made_detach(&m, missing[i]);
		made_tx(&m, 0)->count[COUNT_enobufs] = 4;
		made_judge(&m);
		assert_int_equal(m.r.cause_count, 1);
		assert_string_equal(m.r.causes[0].name, "ENOBUFS");
		assert_int_equal(m.r.causes[0].tally.calls, 4);
		assert_non_null(strstr(m.r.causes[0].why, "optmem or memlock is not measured"));
	}
}

TEST_OF_RECORD(sends_that_never_became_zero_copy_have_their_causes)
{
	struct books *tx;

	tx = made_tx(&m, 0);
	tx->count[COUNT_nosg_sends] = 2;
	tx->count[COUNT_nosg_bytes] = 500;
	tx->count[COUNT_fastopen_sends] = 1;
	tx->count[COUNT_fastopen_bytes] = 60;
	tx->count[COUNT_zerocopy_bytes] += 500 + 60 + 7;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 3);
	assert_string_equal(m.r.causes[0].name, "no scatter-gather route");
	assert_string_equal(m.r.causes[1].name, "TCP fast open");
	assert_string_equal(m.r.causes[2].name, "unknown");
	assert_int_equal(m.r.causes[2].tally.bytes, 7);
	for (int i = 0; i < 3; i++)
		assert_int_equal(m.r.causes[i].site, SITE_tx_copy);
}

TEST_OF_RECORD(the_verdict_names_the_chief_cause)
{
	struct verdict v;

	made_stack(&m, LATE, "tun_net_xmit < dev_hard_start_xmit", 10);
	made_stack(&m, LATE, "ip_local_deliver_finish < ip_local_deliver", 30000);
	/* Copies a clone, beside the packet that the verdict is about. */
	made_stack(&m, LATE, "dev_queue_xmit_nit < dev_hard_start_xmit", 60000);
	made_judge(&m);
	verdict_fill(&m.r, &v);
	assert_string_equal(v.chief_cause, "local delivery");
}

TEST_OF_RECORD(without_stacks_what_arrived_and_was_copied_is_local_delivery)
{
	m.r.backend = BACKEND_TRACEPOINT;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].name, "local delivery");
	assert_int_equal(m.r.causes[0].tally.bytes, m.r.sites[SITE_late_copy].tally.bytes);
}

TEST_OF_RECORD(a_site_that_is_not_measured_has_no_cause)
{
	m.r.backend = BACKEND_TRACEPOINT;
	made_detach(&m, "rx_copy");
	made_judge(&m);
	assert_int_equal(m.r.sites[SITE_late_copy].how, HOW_NOT_MEASURED);
	assert_int_equal(m.r.cause_count, 0);
}

TEST_OF_RECORD(more_stacks_than_there_is_room_for_lose_no_byte)
{
	uint64_t sum = 0;

	for (int i = 0; i < CAUSES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "no_such_caller_%d", i);
		made_stack(&m, LATE, name, 1);
	}
	made_stack(&m, LATE, "tun_net_xmit", 3);
	made_tx(&m, 0)->count[COUNT_unset_sends] = 1;
	made_judge(&m);
	for (int i = 0; i < m.r.cause_count; i++)
		sum += m.r.causes[i].site == LATE ? m.r.causes[i].tally.bytes : 0;
	assert_int_equal(sum, CAUSES_MAX + 3);
	assert_in_range(m.r.cause_count, CAUSES_MAX - CAUSES_KEPT, CAUSES_MAX);
	assert_non_null(strstr(m.r.causes[0].stack, "more than there is room for"));
	assert_string_equal(m.r.causes[1].name, "tun");
}
