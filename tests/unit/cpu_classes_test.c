// SPDX-License-Identifier: GPL-2.0
/* Claims about CPU time: a stack tells what the processor worked at; samples add up; shares have intervals. */
#include <math.h>

#include "tests/unit/unit.h"
#include "userspace/judge/cpu_classes.h"

#define SENT " < tcp_sendmsg_locked < tcp_sendmsg < sock_write_iter < vfs_write < do_syscall_64"
#define READ " < __skb_datagram_iter < skb_copy_datagram_iter < tcp_recvmsg_locked < tcp_recvmsg < inet_recvmsg"
#define SOFTIRQ " < process_backlog < __napi_poll < net_rx_action < handle_softirqs < do_softirq.part.0"
#define OUT " < __local_bh_enable_ip < __dev_queue_xmit < ip_finish_output2 < tcp_write_xmit < tcp_sendmsg_locked"

/* As kernels 6.1 to 7.2 print them, innermost first. */
static const struct {
	const char *frames;
	enum cpu_class class;
	bool softirq;
} stacks[] = {
	{ "rep_movs_alternative < _copy_from_iter" SENT, CPU_SEND_COPY, false },
	{ "copy_user_enhanced_fast_string < _copy_from_iter" SENT, CPU_SEND_COPY, false },
	{ "rep_movs_alternative < _copy_to_iter" READ, CPU_RECV_COPY, false },
	{ "rep_movs_alternative < copy_page_to_iter" READ, CPU_RECV_COPY, false },
	/* A fault while it copies is part of the copy. */
	{ "clear_page_erms < do_anonymous_page < asm_exc_page_fault < rep_movs_alternative < _copy_to_iter" READ,
	  CPU_RECV_COPY, false },
	{ "memcpy_orig < skb_copy_ubufs < skb_orphan_frags_rx < __netif_receive_skb_core.constprop.0" SOFTIRQ OUT,
	  CPU_LATE_COPY, true },
	{ "skb_copy_ubufs < skb_orphan_frags_rx < __netif_receive_skb_core.constprop.0" SOFTIRQ OUT, CPU_LATE_COPY, true },
	/* A late copy allocates its pages first, and releases the user's: that is no copying. */
	{ "get_page_from_freelist < __alloc_frozen_pages_noprof < alloc_pages_noprof < skb_copy_ubufs < skb_orphan_frags_rx"
	  SOFTIRQ OUT, CPU_NETWORK, true },
	{ "clear_page_erms < get_page_from_freelist < alloc_pages_noprof < skb_copy_ubufs < skb_orphan_frags_rx" SOFTIRQ OUT,
	  CPU_NETWORK, true },
	{ "__memcpy < skb_copy_ubufs < skb_orphan_frags_rx" SOFTIRQ OUT, CPU_LATE_COPY, true },
	{ "kmem_cache_alloc_node_noprof < __alloc_skb < skb_copy < tcp_v4_rcv" SOFTIRQ, CPU_NETWORK, true },
	{ "memcpy < skb_copy_bits < skb_segment < tcp_gso_segment" SENT, CPU_RESHAPE, false },
	{ "memcpy < skb_copy_bits.part.0 < tcp_collapse" SOFTIRQ, CPU_RESHAPE, true },
	{ "csum_partial < __skb_checksum < skb_checksum_help < validate_xmit_skb" OUT, CPU_CHECKSUM, false },
	{ "gup_fast_fallback < iov_iter_get_pages2 < __zerocopy_sg_from_iter < skb_zerocopy_iter_stream" SENT, CPU_PIN,
	  false },
	/* Of sendfile, which pins nothing; of a file that is read around its cache. */
	{ "iov_iter_extract_pages < skb_splice_from_iter" SENT, CPU_NETWORK, false },
	{ "iov_iter_extract_pages < bio_iov_iter_get_pages < iomap_dio_bio_iter < ext4_file_read_iter", CPU_KERNEL, false },
	{ "msg_zerocopy_complete < skb_release_data < tcp_ack < tcp_v4_rcv" SOFTIRQ, CPU_COMPLETION, true },
	{ "sock_recv_errqueue < ip_recv_error < inet_recvmsg < __sys_recvmsg", CPU_COMPLETION, false },
	{ "__alloc_skb < tcp_stream_alloc_skb" SENT, CPU_NETWORK, false },
	{ "tcp_v4_rcv" SOFTIRQ OUT, CPU_NETWORK, true },
	/* Who was interrupted does not work at it. */
	{ "tcp_v4_rcv" SOFTIRQ " < irq_exit_rcu < asm_sysvec_apic_timer_interrupt < _copy_from_iter" SENT, CPU_NETWORK,
	  true },
	{ "ktime_get < hrtimer_interrupt < asm_sysvec_apic_timer_interrupt < _copy_from_iter" SENT, CPU_KERNEL, false },
	/* Bytes of a file, or of another kind of socket, are no payload. */
	{ "rep_movs_alternative < _copy_from_iter < generic_perform_write < ext4_file_write_iter", CPU_KERNEL, false },
	{ "rep_movs_alternative < _copy_to_iter < filemap_read < vfs_read", CPU_KERNEL, false },
	{ "rep_movs_alternative < _copy_from_iter < skb_copy_datagram_from_iter < unix_stream_sendmsg", CPU_KERNEL, false },
	{ "rep_movs_alternative < _copy_from_iter < ip_generic_getfrag < udp_sendmsg", CPU_SEND_COPY, false },
	{ "bpf_prog_0123456789abcdef_send_turn < bpf_trace_run4" SENT, CPU_PROBES, false },
	{ "finish_task_switch < __schedule < schedule_timeout", CPU_KERNEL, false },
	{ "", CPU_HIDDEN, false },
};

TEST(a_stack_says_what_the_processor_worked_at)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		bool softirq;

		assert_string_equal(cpu_class_key(cpu_class_of(stacks[i].frames, &softirq)),
				    cpu_class_key(stacks[i].class));
		assert_int_equal(softirq, stacks[i].softirq);
	}
}

static void add(struct cpu_use *use, struct cpu_stack stack)
{
	cpu_stack_classify(&stack);
	cpu_use_add_stack(use, &stack);
}

TEST(samples_add_up_and_copies_are_those_of_payload)
{
	struct cpu_use use = {};

	add(&use, (struct cpu_stack){ .samples = 23, .frames = "_copy_from_iter" SENT });
	add(&use, (struct cpu_stack){ .samples = 7, .frames = "skb_copy_ubufs" SOFTIRQ });
	add(&use, (struct cpu_stack){ .samples = 5, .user = true, .frames = "" });
	add(&use, (struct cpu_stack){ .samples = 4, .user = true, .frames = "__memmove_avx_unaligned_erms" });
	add(&use, (struct cpu_stack){ .samples = 2, .user = true, .frames = "main" });
	assert_int_equal(use.all, 41);
	assert_int_equal(cpu_copies(use.samples), 30);
	assert_int_equal(use.softirq[CPU_LATE_COPY], 7);
	assert_int_equal(use.samples[CPU_USER], 11);
	assert_int_equal(use.user[CPU_USER_COPIES], 4);
	assert_int_equal(use.user[CPU_USER_OTHERS], 2);
	assert_int_equal(use.user[CPU_USER_UNNAMED], 5);
}

/* glibc of x86 and arm64, musl, Go; what only sounds like them. */
TEST(functions_of_user_space_that_copy_are_known_by_their_names)
{
	static const char *const copies[] = { "memcpy", "__memcpy_chk", "__memmove_avx_unaligned_erms", "__mempcpy_sse2_unaligned",
		"__memcpy_generic", "__memcpy_sve", "memmove@plt", "__wmemcpy_chk", "bcopy", "runtime.memmove" };
	static const char *const others[] = { "memset", "memcpyd", "copy", "strcpy", "runtime.memclrNoHeapPointers", "main" };

	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		assert_int_equal(cpu_user_kind_of(copies[i]), CPU_USER_COPIES);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(cpu_user_kind_of(others[i]), CPU_USER_OTHERS);
	assert_int_equal(cpu_user_kind_of(""), CPU_USER_UNNAMED);
}

TEST(an_interval_lies_around_its_share_and_within_0_and_1)
{
	struct cpu_share half = cpu_share_of(50, 100), none = cpu_share_of(0, 100), all = cpu_share_of(100, 100);

	/* Wilson, for 50 of 100: 0.4038 to 0.5962. */
	assert_true(fabs(half.low - 0.4038) < 1e-4 && fabs(half.high - 0.5962) < 1e-4);
	assert_true(none.share == 0 && none.low == 0 && none.high > 0.03 && none.high < 0.04);
	assert_true(all.share == 1 && all.high == 1 && all.low > 0.96);
}

TEST(the_clock_holds_the_samples_to_the_time_with_a_processor)
{
	struct cpu_use use = { .threads = 1, .periods = 199, .run_ns = 1000000000 };

	assert_int_equal(cpu_clock_weigh(&use, 199), LAW_BALANCED);
	use.run_ns *= 1.5;
	assert_int_equal(cpu_clock_weigh(&use, 199), LAW_BROKEN);
	use.skipped = 100;
	assert_int_equal(cpu_clock_weigh(&use, 199), LAW_BALANCED);
	use.periods = 0;
	assert_int_equal(cpu_clock_weigh(&use, 199), LAW_NOT_TESTABLE);
}
