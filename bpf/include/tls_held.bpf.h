/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies in kernel TLS between a program and TCP: opening and closing balances of its books. Under the socket's
 * lock, so that what the programs counted of the socket is in step with it.
 */
#ifndef COPYSCOPE_TLS_HELD_BPF_H
#define COPYSCOPE_TLS_HELD_BPF_H

#include "bpf/include/tls.bpf.h"

/* Of the module tls, whose BTF has it (net/tls/tls.h). */
struct tls_rec {
	struct list_head list;
	struct sk_msg msg_plaintext;
	struct sk_msg msg_encrypted;
} OF_KERNEL;

/* Of struct tls_context: renamed when sendpage went, 6.5 (dc97391e6610, "sock: Remove ->sendpage*() in favour of
 * sendmsg(MSG_SPLICE_PAGES)"). */
struct tls_context___sendpages {
	bool in_tcp_sendpages;
} OF_KERNEL;

/* Up to 6.4 a call may sleep in do_tcp_sendpages() while it hands records to TCP. */
static __always_inline bool tls_pushes(const struct tls_context *context)
{
	const struct tls_context___sendpages *old = (const void *)context;

	return bpf_core_field_exists(old->in_tcp_sendpages) && BPF_CORE_READ(old, in_tcp_sendpages);
}

/* Records that wait for TCP, pieces of one, and packets with plaintext that are read: a program that does not block
 * has one record waiting. */
enum { TLS_RECORDS_READ = 32, TLS_PIECES_READ = 20, TLS_PACKETS_READ = 64 };

enum { SG_IS_CHAIN = 1, SG_IS_LAST = 2 };

/* tls_push_sg() goes on here: of the first record that waits. */
static __always_inline u32 piece_left(const struct tls_context *context)
{
	const struct scatterlist *sg = BPF_CORE_READ(context, partially_sent_record);
	u32 left = 0;

	for (int i = 0; sg && i < TLS_PIECES_READ; i++) {
		unsigned long link = BPF_CORE_READ(sg, page_link);

		if (link & SG_IS_CHAIN) {
			sg = (void *)(link & ~3ul);
			continue;
		}
		left += BPF_CORE_READ(sg, length);
		if (link & SG_IS_LAST)
			break;
		sg = (void *)sg + bpf_core_type_size(struct scatterlist);
	}
	return left - BPF_CORE_READ(context, partially_sent_offset);
}

/* Of the whole first record, what TCP has not accepted stays. */
static __always_inline u32 records_waiting(const struct tls_context *context, const struct tls_sw_context_tx *tx,
					   struct tls_book *tls)
{
	const void *head = (void *)tx + bpf_core_field_offset(struct tls_sw_context_tx, tx_list);
	const struct list_head *node = BPF_CORE_READ(tx, tx_list.next);
	bool partly = BPF_CORE_READ(context, partially_sent_record);
	u32 bytes = 0;

	for (int i = 0; i < TLS_RECORDS_READ; i++) {
		const struct tls_rec *rec = (void *)node - bpf_core_field_offset(struct tls_rec, list);

		if (!node || node == head)
			return bytes;
		bytes += partly && !i ? piece_left(context) : BPF_CORE_READ(rec, msg_encrypted.sg.size);
		node = BPF_CORE_READ(node, next);
	}
	tls->walk_short = 1;
	return bytes;
}

static __always_inline void sends_held(struct tls_book *tls, const struct sock *sk)
{
	const struct tls_context *context = tls_context_of(sk);
	const struct tls_sw_context_tx *tx = BPF_CORE_READ(context, priv_ctx_tx);
	const struct tls_rec *open = BPF_CORE_READ(tx, open_rec);

	tls->now.accepted = tls_accepted_now(sk);
	tls->now.open = open ? BPF_CORE_READ(open, msg_plaintext.sg.size) : 0;
	tls->now.queued = records_waiting(context, tx, tls);
}

static __always_inline u32 plaintext_of(const struct sk_buff *skb)
{
	const struct sk_skb_cb *cb = (const void *)skb + bpf_core_field_offset(struct sk_buff, cb);

	return BPF_CORE_READ(cb, strp.strp.full_len);
}

static __always_inline u32 plaintext_waiting(const struct tls_sw_context_rx *rx, struct tls_book *tls)
{
	const void *head = (void *)rx + bpf_core_field_offset(struct tls_sw_context_rx, rx_list);
	const struct sk_buff *skb = BPF_CORE_READ(rx, rx_list.next);
	u32 bytes = 0;

	for (int i = 0; i < TLS_PACKETS_READ; i++) {
		if (!skb || skb == head)
			return bytes;
		bytes += plaintext_of(skb);
		skb = BPF_CORE_READ(skb, next);
	}
	tls->walk_short = 1;
	return bytes;
}

/* A record whose pieces do not fit the receive queue is collected in packets of its own (tls_strp_read_copyin). */
static __always_inline void receives_held(struct tls_book *tls, const struct sock *sk)
{
	const struct tls_context *context = tls_context_of(sk);
	const struct tls_sw_context_rx *rx = BPF_CORE_READ(context, priv_ctx_rx);
	const struct tls_strparser *parser = (void *)rx + bpf_core_field_offset(struct tls_sw_context_rx, strp);

	tls->now.returned = tls_returned_now(sk);
	tls->now.collected = BPF_CORE_READ_BITFIELD_PROBED(parser, copy_mode) ? BPF_CORE_READ(parser, anchor, len) : 0;
	tls->now.decrypted = plaintext_waiting(rx, tls);
}

static __always_inline void held_take(struct tls_book *tls, const struct sock *sk)
{
	if (tls->device)
		return;
	if (tls->sends && !tls->sends_ended)
		sends_held(tls, sk);
	if (tls->receives && !tls->receives_ended)
		receives_held(tls, sk);
}

#endif
