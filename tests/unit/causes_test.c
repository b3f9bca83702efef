// SPDX-License-Identifier: GPL-2.0
/* Claims about causes: the stack that led to a copy names its reason, on every kernel we know. */
#include "tests/unit/made_record.h"

/* As three kernels print them, innermost caller first. */
#define SOFTIRQ " < __netif_receive_skb_one_core < process_backlog < __napi_poll < net_rx_action"
#define OUTPUT " < __ip_queue_xmit < __tcp_transmit_skb < tcp_write_xmit < tcp_sendmsg_locked"

static const struct {
	const char *kernel, *stack, *cause;
} stacks[] = {
	/* Copied at the first hop. */
	{ "6.1", "__netif_receive_skb_core" SOFTIRQ, "local delivery" },
	{ "6.12", "__netif_receive_skb_core.constprop.0" SOFTIRQ, "local delivery" },
	/* Copied at the local socket. */
	{ "6.18", "ip_local_deliver_finish < ip_local_deliver" SOFTIRQ, "local delivery" },
	{ "6.18", "ip_protocol_deliver_rcu < ip_local_deliver_finish" SOFTIRQ, "local delivery" },
	{ "6.18", "ip6_protocol_deliver_rcu < ip6_input_finish" SOFTIRQ, "local delivery" },
	{ "6.18", "ip6_input_finish < ip6_input" SOFTIRQ, "local delivery" },
	/* A capture copies a clone on its way out; the caller further out does not decide. */
	{ "6.1", "dev_queue_xmit_nit < dev_hard_start_xmit < __dev_queue_xmit" OUTPUT, "packet tap" },
	{ "6.12", "dev_queue_xmit_nit < __netif_receive_skb_core" SOFTIRQ, "packet tap" },
	{ "6.12", "tun_net_xmit < dev_hard_start_xmit < __dev_queue_xmit" OUTPUT, "tun" },
	{ "6.12", "skb_segment < tcp_gso_segment < inet_gso_segment" OUTPUT, "segmentation" },
	{ "6.12", "skb_zerocopy_clone < skb_segment" OUTPUT, "clone or expand" },
	{ "6.1", "pskb_expand_head < skb_ensure_writable" OUTPUT, "clone or expand" },
	{ "6.18", "__pskb_copy_fclone < tcp_retransmit_skb", "clone or expand" },
	/* Names that only begin alike are not it. */
	{ "6.18", "skb_segmentation_of_tomorrow < net_rx_action", "unknown" },
	{ "6.18", "tun_net_xmit2 < dev_queue_xmit_nit_ < softirq", "unknown" },
	{ "6.18", "", "unknown" },
};

static void late_add(struct made *m, const char *stack, uint64_t bytes)
{
	struct late_stack *late = &m->r.ledger.late[m->r.ledger.late_count++];

	snprintf(late->frames, sizeof(late->frames), "%s", stack);
	late->tally = (struct tally){ bytes, 1 };
}

static void a_stack_names_its_cause_on_every_kernel(void **state)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		const struct cause *c;
		struct made m;

		made_init(&m);
		late_add(&m, stacks[i].stack, 4093);
		made_judge(&m);
		c = &m.r.causes[0];
		assert_int_equal(m.r.cause_count, 1);
		assert_string_equal(c->name, stacks[i].cause);
		assert_int_equal(c->site, SITE_late_copy);
		assert_true(c->bytes_known && *c->remedy);
		assert_int_equal(c->tally.bytes, 4093);
		assert_int_equal(!*c->stack, strcmp(c->name, "unknown") != 0);
	}
}

static void stacks_of_one_cause_are_one_line(void **state)
{
	struct made m;

	made_init(&m);
	late_add(&m, "ip_local_deliver_finish < ip_local_deliver", 100);
	late_add(&m, "dev_queue_xmit_nit < dev_hard_start_xmit", 7);
	late_add(&m, "ip6_input_finish < ip6_input", 20);
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 2);
	assert_string_equal(m.r.causes[0].name, "local delivery");
	assert_int_equal(m.r.causes[0].tally.bytes, 120);
	assert_int_equal(m.r.causes[0].tally.calls, 2);
	assert_int_equal(m.r.causes[1].tally.bytes, 7);
}

static void an_unknown_stack_is_shown_and_never_summed(void **state)
{
	struct made m;

	made_init(&m);
	late_add(&m, "quantum_tunnel_xmit < dev_hard_start_xmit", 5);
	late_add(&m, "another_tunnel_xmit < dev_hard_start_xmit", 6);
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 2);
	assert_string_equal(m.r.causes[0].stack, "quantum_tunnel_xmit < dev_hard_start_xmit");
	assert_string_equal(m.r.causes[1].stack, "another_tunnel_xmit < dev_hard_start_xmit");
	assert_int_equal(m.r.causes[1].tally.bytes, 6);
	assert_non_null(strstr(m.r.causes[0].remedy, "report this stack"));
}

static void a_flag_without_the_option_is_a_cause_of_plain_copies(void **state)
{
	struct made m;

	made_init(&m);
	made_tx(&m, 1)->count[COUNT_unset_sends] = 3;
	made_tx(&m, 1)->count[COUNT_unset_bytes] = 777;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].name, "SO_ZEROCOPY not set");
	assert_int_equal(m.r.causes[0].site, SITE_tx_copy);
	assert_int_equal(m.r.causes[0].tally.bytes, 777);
	assert_int_equal(m.r.causes[0].tally.calls, 3);
}

static void a_refused_send_is_a_cause_without_bytes(void **state)
{
	struct made m;

	made_init(&m);
	made_tx(&m, 0)->count[COUNT_enobufs] = 4;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].name, "ENOBUFS");
	assert_false(m.r.causes[0].bytes_known);
	assert_int_equal(m.r.causes[0].tally.calls, 4);
}

static void without_stacks_what_arrived_and_was_copied_is_local_delivery(void **state)
{
	struct made m;

	made_init(&m);
	m.r.backend = BACKEND_TRACEPOINT;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, 1);
	assert_string_equal(m.r.causes[0].name, "local delivery");
	assert_int_equal(m.r.causes[0].tally.bytes, m.r.sites[SITE_late_copy].tally.bytes);
}

static void a_site_that_is_not_measured_has_no_cause(void **state)
{
	struct made m;

	made_init(&m);
	m.r.backend = BACKEND_TRACEPOINT;
	made_detach(&m, "rx_copy");
	made_judge(&m);
	assert_int_equal(m.r.sites[SITE_late_copy].how, HOW_NOT_MEASURED);
	assert_int_equal(m.r.cause_count, 0);
}

static void more_stacks_than_there_is_room_for_do_no_harm(void **state)
{
	struct made m;

	made_init(&m);
	for (int i = 0; i < CAUSES_MAX; i++)
		late_add(&m, "no_such_caller", 1);
	made_tx(&m, 0)->count[COUNT_unset_sends] = made_tx(&m, 0)->count[COUNT_enobufs] = 1;
	made_judge(&m);
	assert_int_equal(m.r.cause_count, CAUSES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_names_its_cause_on_every_kernel),
		cmocka_unit_test(stacks_of_one_cause_are_one_line),
		cmocka_unit_test(an_unknown_stack_is_shown_and_never_summed),
		cmocka_unit_test(a_flag_without_the_option_is_a_cause_of_plain_copies),
		cmocka_unit_test(a_refused_send_is_a_cause_without_bytes),
		cmocka_unit_test(without_stacks_what_arrived_and_was_copied_is_local_delivery),
		cmocka_unit_test(a_site_that_is_not_measured_has_no_cause),
		cmocka_unit_test(more_stacks_than_there_is_room_for_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
