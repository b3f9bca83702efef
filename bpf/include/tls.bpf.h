/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The books of sockets with kernel TLS. A hash, as few sockets have one, and a cipher knows no socket.
 */
#ifndef COPYSCOPE_TLS_BPF_H
#define COPYSCOPE_TLS_BPF_H

#include "bpf/include/book.bpf.h"

enum { TLS_SOCKETS_MAX = 16384 };

/* cookie -> what TLS did; whoever reads the book of a socket that has died takes it out */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TLS_SOCKETS_MAX);
	__type(key, u64);
	__type(value, struct tls_book);
} tls_books SEC(".maps") __weak;

/* What a transformation is for. */
struct tls_cipher {
	u64 cookie;
	u16 sends;
	u16 overhead;	/* of a record: what stands before and behind the plaintext */
	u16 prepended;
	u16 tag;
	u16 tail;	/* TLS 1.3 encrypts the type of the record with it */
	u16 unused[3];
};

/* struct crypto_tfm -> what it is for */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2 * TLS_SOCKETS_MAX);
	__type(key, u64);
	__type(value, struct tls_cipher);
} tls_ciphers SEC(".maps") __weak;

/* cookie -> that book as the last walk over sockets found it, under the lock */
struct {
	__type(key, u64);
	__type(value, struct tls_book);
	__uint(max_entries, TLS_SOCKETS_MAX);
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} tls_read SEC(".maps") __weak;

/* pid_tgid -> cookie of the socket whose records the task decrypts: their plaintext lies in packets without one */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} tls_readers SEC(".maps") __weak;

/* Something was in this table. */
volatile __u32 tls_readers_noted __weak = 0;

static __always_inline struct tls_book *tls_book_find(u64 cookie)
{
	return bpf_map_lookup_elem(&tls_books, &cookie);
}

/* accepted_of() for programs of a module's functions, where the verifier knows no type of the socket. */
static __always_inline u64 accepted_now(const struct sock *sk)
{
	const struct tcp_sock *tp = (const void *)sk;

	return BPF_CORE_READ(tp, bytes_acked) + (u32)(BPF_CORE_READ(tp, write_seq) - BPF_CORE_READ(tp, snd_una));
}

static __always_inline const struct tls_context *tls_context_of(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = (const void *)sk;

	return BPF_CORE_READ(icsk, icsk_ulp_data);
}

static __always_inline void cipher_note(struct tls_book *tls, const struct sock *sk, bool sends)
{
	const struct tls_context *context = tls_context_of(sk);
	const struct tls_sw_context_tx *tx = BPF_CORE_READ(context, priv_ctx_tx);
	const struct tls_sw_context_rx *rx = BPF_CORE_READ(context, priv_ctx_rx);
	const struct crypto_aead *aead = sends ? BPF_CORE_READ(tx, aead_send) : BPF_CORE_READ(rx, aead_recv);
	u64 tfm = (u64)aead + bpf_core_field_offset(struct crypto_aead, base);
	struct tls_cipher cipher = {
		.cookie = cookie_of(sk), .sends = sends,
		.overhead = BPF_CORE_READ(context, prot_info.overhead_size),
		.prepended = BPF_CORE_READ(context, prot_info.prepend_size),
		.tag = BPF_CORE_READ(context, prot_info.tag_size),
		.tail = BPF_CORE_READ(context, prot_info.tail_size),
	};

	if (bpf_map_update_elem(&tls_ciphers, &tfm, &cipher, BPF_ANY))
		note_lost_update();
	if (sends)
		tls->sent_cipher = tfm;
	else
		tls->received_cipher = tfm;
}

/* A FIN in the sequence is no byte. */
static __always_inline u64 tls_accepted_now(const struct sock *sk)
{
	return accepted_now(sk) - fin_in_sequence(BPF_CORE_READ(sk, __sk_common.skc_state));
}

/* A FIN that was read, too. */
static __always_inline u64 tls_returned_now(const struct sock *sk)
{
	const struct tcp_sock *tp = (const void *)sk;
	u32 unread = BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq);
	bool done = BPF_CORE_READ(sk, __sk_common.skc_flags) >> bpf_core_enum_value(enum sock_flags, SOCK_DONE) & 1;

	return BPF_CORE_READ(tp, bytes_received) - unread - (done && !unread);
}

/* The book of a socket that has TLS, begun if it has none. */
static __always_inline struct tls_book *tls_book_of(const struct sock *sk)
{
	u64 cookie = cookie_of(sk);
	struct tls_book *tls = tls_book_find(cookie), fresh = {};
	struct watch_slot *slot = tls ? NULL : slot_find(cookie);

	if (tls || !slot)
		return tls;
	slot->tls |= SLOT_HAS_TLS_BOOK;
	if (bpf_map_update_elem(&tls_books, &cookie, &fresh, BPF_NOEXIST))
		note_lost_update();
	return tls_book_find(cookie);
}

/* Notes each direction that has keys now and had none before: nothing has passed TLS that way. Under the lock. */
static __always_inline void tls_begin(struct tls_book *tls, const struct sock *sk)
{
	const struct tls_context *context = tls_context_of(sk);
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!slot || tls->device)
		return;
	if (!tls->sends && BPF_CORE_READ(context, priv_ctx_tx)) {
		tls->sends = 1;
		slot->tls |= SLOT_TLS_SENDS;
		tls->sent_before = tls_accepted_now(sk);
		tls->accepted_before = slot->sends_returned;
		cipher_note(tls, sk, true);
	}
	if (!tls->receives && BPF_CORE_READ(context, priv_ctx_rx)) {
		tls->receives = 1;
		slot->tls |= SLOT_TLS_RECEIVES;
		tls->received_before = tls_returned_now(sk);
		cipher_note(tls, sk, false);
	}
}

/* Its memory is another's as soon as the socket is closed, which may be long before it dies. */
static __always_inline void cipher_forget(u64 tfm, u64 cookie)
{
	struct tls_cipher *cipher = bpf_map_lookup_elem(&tls_ciphers, &tfm);

	if (cipher && cipher->cookie == cookie)
		bpf_map_delete_elem(&tls_ciphers, &tfm);
}

/* The socket has died, and nothing may have told that it was closed. */
static __always_inline void tls_ciphers_forget(u64 cookie)
{
	struct tls_book *tls = tls_book_find(cookie);

	if (!tls)
		return;
	cipher_forget(tls->sent_cipher, cookie);
	cipher_forget(tls->received_cipher, cookie);
}

/* Nobody will read it. */
static __always_inline void tls_book_drop(u64 cookie)
{
	bpf_map_delete_elem(&tls_books, &cookie);
	bpf_map_delete_elem(&tls_read, &cookie);
}

/* Whose records the task decrypts; 0: nobody's. */
static __always_inline u64 cookie_of_tls_reader(void)
{
	u64 task = bpf_get_current_pid_tgid(), *cookie;

	if (!tls_readers_noted)
		return 0;
	cookie = bpf_map_lookup_elem(&tls_readers, &task);
	return cookie ? *(volatile u64 *)cookie : 0;
}

#endif
