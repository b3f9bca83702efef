// SPDX-License-Identifier: GPL-2.0
/*
 * What kernel TLS, in software, does with the bytes of a socket: copied into records, encrypted from where they lie,
 * decrypted into user pages; what its records are longer than their plaintext.
 *
 * TCP sees the records, as pages that are spliced into it, and none of its functions that receive is called. A cipher
 * serves others, too (IPsec), and knows no socket: it is told by the transformation that TLS made for the socket.
 */
#include "bpf/include/sizes.bpf.h"
#include "bpf/include/tls_held.bpf.h"

#define TLS_PEEK_FLAG 0x02
#define TLS_ERRQUEUE_FLAG 0x2000
#define TLS_SPLICE_PAGES_FLAG 0x8000000

/* Of the module tls, whose BTF has it (net/tls/tls_sw.c). */
struct tls_decrypt_arg {
	bool zc;
	struct sk_buff *skb;
} OF_KERNEL;

/* Keys were set for one direction, or could not be. */
SEC("?fexit/tls_set_sw_offload")
int BPF_PROG(tls_begins, struct sock *sk)
{
	struct tls_book *tls = tls_book_of(sk);

	if (tls)
		tls_begin(tls, sk);
	return 0;
}

/* A direction that has none by software has a context now, unless the device refused. */
static __always_inline int device_begins(const struct sock *sk, bool sends)
{
	const struct tls_context *context = tls_context_of(sk);
	struct tls_book *tls = NULL;

	if (sends ? BPF_CORE_READ(context, priv_ctx_tx) : BPF_CORE_READ(context, priv_ctx_rx))
		tls = tls_book_of(sk);
	if (tls)
		tls->device = 1;
	return 0;
}

SEC("?fexit/tls_set_device_offload")
int BPF_PROG(tls_device_sends, struct sock *sk)
{
	return device_begins(sk, true);
}

SEC("?fexit/tls_set_device_offload_rx")
int BPF_PROG(tls_device_receives, struct sock *sk)
{
	return device_begins(sk, false);
}

/* The socket is closed: what TLS still holds is lost, but for records that are ready, which go to TCP now. */
SEC("?fentry/tls_sw_release_resources_tx")
int BPF_PROG(tls_sends_end, struct sock *sk)
{
	struct tls_book *tls = tls_book_find(cookie_of(sk));

	if (!tls || !tls->sends || tls->sends_ended)
		return 0;
	sends_held(tls, sk);
	tls->sends_ended = 1;
	cipher_forget(tls->sent_cipher, cookie_of(sk));
	return 0;
}

SEC("?fentry/tls_sw_release_resources_rx")
int BPF_PROG(tls_receives_end, struct sock *sk)
{
	struct tls_book *tls = tls_book_find(cookie_of(sk));

	if (!tls || !tls->receives || tls->receives_ended)
		return 0;
	receives_held(tls, sk);
	tls->receives_ended = 1;
	cipher_forget(tls->received_cipher, cookie_of(sk));
	return 0;
}

/* The plaintext that a call moved. */
static __always_inline void tls_sized(const struct sock *sk, u32 way, long ret)
{
	struct watch_slot *slot = sizes_wanted ? slot_find(cookie_of(sk)) : NULL;

	if (slot)
		call_sized(slot, way, ret);
}

static __always_inline int send_returns(const struct sock *sk, u32 way, long ret)
{
	struct tls_book *tls = ret > 0 ? tls_book_find(cookie_of(sk)) : NULL;

	if (!tls)
		return 0;
	tls_sized(sk, way, ret);
	__sync_fetch_and_add(&tls->accepted, ret);
	__sync_fetch_and_add(&tls->send_calls, 1);
	return 0;
}

SEC("?fexit/tls_sw_sendmsg")
int BPF_PROG(tls_send_exit, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	return send_returns(sk, msg->msg_flags & TLS_SPLICE_PAGES_FLAG ? CALL_SEND_SPLICE : CALL_SEND_PLAIN, ret);
}

SEC("?fexit/tls_sw_sendpage")
int BPF_PROG(tls_sendpage_exit, struct sock *sk, struct page *page, int offset, size_t size, int flags, int ret)
{
	return send_returns(sk, CALL_SEND_SPLICE, ret);
}

static __always_inline int pages_encrypted(const struct sock *sk, long ret)
{
	struct tls_book *tls = ret > 0 ? tls_book_find(cookie_of(sk)) : NULL;

	if (!tls)
		return 0;
	__sync_fetch_and_add(&tls->spliced, ret);
	__sync_fetch_and_add(&tls->splices, 1);
	return 0;
}

/* All bytes of such a call are: TLS, unlike TCP, has no way back to a copy. */
SEC("?fexit/tls_sw_sendmsg")
int BPF_PROG(tls_spliced, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	return msg->msg_flags & TLS_SPLICE_PAGES_FLAG ? pages_encrypted(sk, ret) : 0;
}

/* Up to 6.4 sendfile and splice have an entry of their own. */
SEC("?fexit/tls_sw_sendpage")
int BPF_PROG(tls_spliced_page, struct sock *sk, struct page *page, int offset, size_t size, int flags, int ret)
{
	return pages_encrypted(sk, ret);
}

/* All of @bytes or none. A sockmap's verdict may take them back up to 6.18. */
SEC("?fexit/sk_msg_zerocopy_from_iter")
int BPF_PROG(tls_referenced, struct sock *sk, struct iov_iter *from, void *msg, u32 bytes, int ret)
{
	struct tls_book *tls = ret ? NULL : tls_book_find(cookie_of(sk));

	if (!tls)
		return 0;
	__sync_fetch_and_add(&tls->referenced, bytes);
	__sync_fetch_and_add(&tls->references, 1);
	return 0;
}

/* All of @bytes, unless it fails. What it returns up to 6.12 is the last piece. */
SEC("?fexit/sk_msg_memcopy_from_iter")
int BPF_PROG(tls_copied, struct sock *sk, struct iov_iter *from, void *msg, u32 bytes, int ret)
{
	struct tls_book *tls = ret < 0 ? NULL : tls_book_find(cookie_of(sk));

	if (!tls)
		return 0;
	__sync_fetch_and_add(&tls->copied, bytes);
	__sync_fetch_and_add(&tls->copies, 1);
	return 0;
}

static __always_inline struct tls_cipher *cipher_of(const struct aead_request *request, bool sends)
{
	u64 tfm = (u64)BPF_CORE_READ(request, base.tfm);
	struct tls_cipher *cipher = bpf_map_lookup_elem(&tls_ciphers, &tfm);

	return cipher && cipher->sends == sends ? cipher : NULL;
}

/* Once for each record. */
SEC("?fentry/crypto_aead_encrypt")
int BPF_PROG(tls_encrypts, struct aead_request *request)
{
	struct tls_cipher *cipher = cipher_of(request, true);
	struct tls_book *tls = cipher ? tls_book_find(cipher->cookie) : NULL;

	if (!tls || (fault_inject == FAULT_SKIP_ENCRYPTION && tls->sent_records == 7))
		return 0;
	__sync_fetch_and_add(&tls->encrypted, BPF_CORE_READ(request, cryptlen) - cipher->tail);
	__sync_fetch_and_add(&tls->sent_overhead, cipher->overhead);
	__sync_fetch_and_add(&tls->sent_records, 1);
	return 0;
}

static __always_inline int receive_begins(const struct sock *sk)
{
	u64 task = bpf_get_current_pid_tgid(), cookie = cookie_of(sk);

	if (!tls_book_find(cookie))
		return 0;
	if (bpf_map_update_elem(&tls_readers, &task, &cookie, BPF_ANY))
		note_lost_update();
	tls_readers_noted = 1;
	return 0;
}

SEC("?fentry/tls_sw_recvmsg")
int BPF_PROG(tls_receive_enter, struct sock *sk)
{
	return receive_begins(sk);
}

SEC("?fentry/tls_sw_splice_read")
int BPF_PROG(tls_splice_read_enter, struct socket *sock)
{
	return receive_begins(sock->sk);
}

SEC("?fexit/tls_sw_splice_read")
int BPF_PROG(tls_splice_read_exit, struct socket *sock, void *at, struct pipe_inode_info *pipe, size_t most,
	     unsigned int flags, long ret)
{
	u64 task = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&tls_readers, &task);
	tls_sized(sock->sk, CALL_RECV_SPLICE, ret);
	return 0;
}

static __always_inline int receive_returns(const struct sock *sk, int flags, int ret)
{
	struct tls_book *tls = tls_book_find(cookie_of(sk));
	u64 task = bpf_get_current_pid_tgid();

	if (!tls)
		return 0;
	bpf_map_delete_elem(&tls_readers, &task);
	if (flags & TLS_ERRQUEUE_FLAG)
		return 0;
	tls_sized(sk, flags & TLS_PEEK_FLAG ? CALL_RECV_PEEK : CALL_RECV_PLAIN, ret);
	if (ret <= 0)
		return 0;
	if (flags & TLS_PEEK_FLAG) {
		__sync_fetch_and_add(&tls->peeked, ret);
		return 0;
	}
	__sync_fetch_and_add(&tls->returned, ret);
	__sync_fetch_and_add(&tls->recv_calls, 1);
	return 0;
}

SEC("?fexit/tls_sw_recvmsg")
int BPF_PROG(tls_receive_exit_5, struct sock *sk, struct msghdr *msg, size_t size, int flags, int *address_len,
	     int ret)
{
	return receive_returns(sk, flags, ret);
}

/* 7.2 returns the length of an address in the message. */
SEC("?fexit/tls_sw_recvmsg")
int BPF_PROG(tls_receive_exit_4, struct sock *sk, struct msghdr *msg, size_t size, int flags, int ret)
{
	return receive_returns(sk, flags, ret);
}

/* A record of TLS 1.3 that turns out to be none of data is decrypted a second time. */
SEC("?fentry/crypto_aead_decrypt")
int BPF_PROG(tls_decrypts, struct aead_request *request)
{
	struct tls_cipher *cipher = cipher_of(request, false);
	struct tls_book *tls = cipher ? tls_book_find(cipher->cookie) : NULL;
	u32 bytes = BPF_CORE_READ(request, cryptlen);

	if (!tls)
		return 0;
	__sync_fetch_and_add(&tls->decrypted, bytes - cipher->tag - cipher->tail);
	__sync_fetch_and_add(&tls->decryptions, 1);
	tls->last_cipher_bytes = bytes + cipher->prepended;
	return 0;
}

/* One reader at a time decrypts. */
SEC("?fexit/tls_rx_one_record")
int BPF_PROG(tls_opened, struct sock *sk, struct msghdr *msg, struct tls_decrypt_arg *arg, int ret)
{
	struct tls_book *tls = ret < 0 ? NULL : tls_book_find(cookie_of(sk));
	u32 bytes;

	if (!tls || (fault_inject == FAULT_SKIP_DECRYPTION && tls->received_records == 7))
		return 0;
	bytes = plaintext_of(BPF_CORE_READ(arg, skb));
	tls->opened += bytes;
	tls->received_records++;
	tls->received_overhead += tls->last_cipher_bytes - bytes;
	return 0;
}

SEC("?fexit/tls_rx_one_record")
int BPF_PROG(tls_direct, struct sock *sk, struct msghdr *msg, struct tls_decrypt_arg *arg, int ret)
{
	struct tls_book *tls = ret < 0 || !BPF_CORE_READ(arg, zc) ? NULL : tls_book_find(cookie_of(sk));

	if (!tls)
		return 0;
	tls->direct += plaintext_of(BPF_CORE_READ(arg, skb));
	tls->directs++;
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
