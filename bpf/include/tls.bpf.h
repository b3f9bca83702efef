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

/* The socket has died: the memory of its ciphers may be used for others. */
static __always_inline void tls_ciphers_forget(u64 cookie)
{
	struct tls_book *tls = tls_book_find(cookie);
	u64 sent = tls ? tls->sent_cipher : 0, received = tls ? tls->received_cipher : 0;

	if (sent)
		bpf_map_delete_elem(&tls_ciphers, &sent);
	if (received)
		bpf_map_delete_elem(&tls_ciphers, &received);
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
