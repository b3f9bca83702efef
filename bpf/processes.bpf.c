// SPDX-License-Identifier: GPL-2.0
/*
 * Which process holds which socket, by the descriptors of tasks; and which processes the subject has.
 *
 * Descriptors also hold sockets that TCP has closed. A process is part of the subject from its fork on.
 */
#include "bpf/include/census.bpf.h"
#include "bpf/include/datagram.bpf.h"
#include "bpf/include/queues.bpf.h"
#include "bpf/include/uncovered.bpf.h"
#include "bpf/include/who.bpf.h"

/* A socket that TCP closed before: what it received may still be read. */
static __always_inline struct watch_book *book_of_closed(struct sock *sk, const struct tcp_sock *tp)
{
	struct watch_book *book = book_begin(sk);
	struct watch_slot *slot;

	if (!book)
		return NULL;
	reading_take(&book->opened, tp, BPF_TCP_CLOSE);
	queues_empty(&book->opened);
	urgent_begin(&book->urgent, tp);
	book->closed = book->opened;
	book->flags |= WATCH_CLOSED | WATCH_READABLE;
	/* Notifications that nobody has read yet are told anew with each error. */
	slot = slot_of(book);
	if (slot && book->opened.zerocopy_sends)
		completions_begin(slot, &book->opened, sk);
	return book;
}

/* Its sends by reference are completed by hooks that nobody else needs: they are attached in time. */
static __always_inline bool is_ring(const struct file *file)
{
	const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	static const char ring[] = "[io_uring]";
	char found[sizeof(ring)] = {};

	bpf_probe_read_kernel_str(found, sizeof(found), name);
	for (u32 i = 0; i < sizeof(ring); i++)
		if (found[i] != ring[i])
			return false;
	return true;
}

/* A socket that no program saw begin, where no walk over sockets goes: nobody can hold its lock for it. */
static __always_inline struct watch_book *book_of_unentered(struct sock *sk, const struct tcp_sock *tp)
{
	struct watch_book *book = book_begin(sk);

	if (!book)
		return NULL;
	reading_take(&book->opened, tp, sk->__sk_common.skc_state);
	queues_empty(&book->opened);
	addresses_take(book, sk);
	book->flags |= WATCH_UNOPENED | WATCH_TORN;
	return book;
}

static __always_inline void holder_note(struct watch_book *book, const struct task_struct *t, u32 pass)
{
	struct watch_task task = {};
	bool first = book->pass != pass;

	task_describe(&task, t);
	if (first) {
		book->pass = pass;
		book->owner_holds = 0;
	}
	if (same_task(&book->owner, &task))
		book->owner_holds = 1;
	if (first || is_member(task.tgid))
		book->holder = task;
}

static __always_inline void listener_holder_note(struct sock *sk, const struct task_struct *t)
{
	struct heir *heir = bpf_sk_storage_get(&heirs, sk, 0, 0);
	struct watch_task task = {};

	/* It may have listened before it was part of the subject. */
	if (heir && heir->task.tgid && is_member(heir->task.tgid)) {
		heir->ours = 1;
		return;
	}
	task_describe(&task, t);
	heir_note(sk, &task, is_member(task.tgid));
}

static __always_inline int datagrams_held(struct sock *sk, const struct task_struct *t)
{
	struct watch_book *book;

	if (!datagrams_watch)
		return 0;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	book = datagram_found(sk, book);
	if (!book)
		return 0;
	holder_note(book, t, watch_pass);
	/* Of tasks, those that are of the subject alone are asked. */
	pages_opened(book, watch_filter == WATCH_OF_TASKS);
	return 0;
}

/* Only calls may move bytes from here on, and its process may be gone when the next walk comes. */
static __always_inline void held_at_opening(struct watch_book *book, const struct task_struct *t)
{
	if (watch_mode != WATCH_MODE_OPEN || book->flags & WATCH_OURS || !is_member(t->tgid))
		return;
	owner_note(book, &book->holder, true);
	ours_note(book);
}

static __always_inline bool ports_or_others(const struct sock *sk)
{
	return watch_filter == WATCH_OF_PORTS || (watch_filter == WATCH_OF_NETNS && !inum_is_ours(netns_of(sk)));
}

SEC("?iter/task_file")
int walk_descriptors(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *file = ctx->file;
	struct watch_book *book;
	const struct tcp_sock *tp;
	struct socket *socket;
	struct sock *sk;
	u8 state;

	if (watch_mode == WATCH_MODE_OPEN) {
		window_jiffies = bpf_jiffies64();
		datagrams_opened = datagrams_watched == DATAGRAMS_WATCHED;
	}
	if (!t || !file || (watch_filter == WATCH_OF_TASKS && !is_member(t->tgid)))
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (!sk && (watch_mode == WATCH_MODE_OPEN || datagrams_watch) && is_ring(file)) {
		watch_gauges.rings_seen = 1;
		if (watch_mode == WATCH_MODE_OPEN)
			hooks_want(&watch_gauges.zerocopy_seen);
	}
	if (sk && opened_by_walk && !ports_or_others(sk))
		uncovered_note(sk);
	if (sk && is_udp(sk))
		return datagrams_held(sk, t);
	if (sk && sk->sk_protocol == IPPROTO_MPTCP_NUMBER)
		mptcp_note(sk, t);
	if (!sk || !is_tcp(sk))
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	/* A book is there before the state changes. */
	state = *(volatile u8 *)&sk->__sk_common.skc_state;
	if (state == BPF_TCP_LISTEN) {
		listener_holder_note(sk, t);
		return 0;
	}
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	/* The lock is not held: one that was never connected may be so at this moment. */
	if (!book && watch_mode == WATCH_MODE_OPEN && state == BPF_TCP_CLOSE &&
	    (tp->bytes_sent || tp->bytes_received))
		book = book_of_closed(sk, tp);
	if (!book && state != BPF_TCP_CLOSE && !inum_is_ours(netns_of(sk)))
		book = book_of_unentered(sk, tp);
	if (!book) {
		/* No walk over sockets meets it, and it may not die while somebody watches. */
		if (state == BPF_TCP_CLOSE && born_unseen(sk, tp))
			watch_gauges.bookless++;
		return 0;
	}
	holder_note(book, t, watch_pass);
	held_at_opening(book, t);
	pages_opened(book, watch_filter == WATCH_OF_TASKS);
	return 0;
}

/* What the process that asks calls this one: 0 if its PID namespace does not see it. */
static __always_inline u32 pid_seen_by_asker(const struct task_struct *t)
{
	const struct task_struct *asker = (const void *)bpf_get_current_task();
	const struct pid *pid = BPF_CORE_READ(t, thread_pid);
	u32 level = BPF_CORE_READ(asker, thread_pid, level), seen = 0;
	u64 at = bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);

	if (level > BPF_CORE_READ(pid, level))
		return 0;
	bpf_probe_read_kernel(&seen, sizeof(seen),
			      (void *)pid + at + bpf_core_field_offset(struct upid, nr));
	return seen;
}

/* 7f203bc89eb6 ("cgroup: Replace cgroup->ancestor_ids[] with ->ancestors[]"), 6.1. */
static __always_inline bool lies_below(const struct cgroup *cgroup, u32 level, u64 number)
{
	const struct cgroup *above = NULL;

	if ((u32)BPF_CORE_READ(cgroup, level) < level)
		return false;
	bpf_probe_read_kernel(&above, sizeof(above),
			      (void *)cgroup + bpf_core_field_offset(struct cgroup, ancestors) + level * sizeof(above));
	return BPF_CORE_READ(above, kn, id) == number;
}

static __always_inline bool is_in_cgroup_of(const volatile struct subject_names *names, const struct task_struct *t)
{
	const struct cgroup *cgroup = NULL;

	if (!names->cgroup_count || !bpf_core_field_exists(cgroup->ancestors))
		return false;
	cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp);
	for (u32 i = 0; i < SUBJECT_CGROUPS && i < names->cgroup_count; i++)
		if (lies_below(cgroup, names->cgroup_levels[i], names->cgroups[i]))
			return true;
	return false;
}

/* A name is held against globs letter by letter: bit n of the places says that what stands before place n of the glob
 * fits what was read of the name. */
struct match {
	const volatile struct subject_names *names;
	char name[WATCH_TASK_COMM];
	u32 places, next;
	bool found;
};

/* One letter at one place; a * fits nothing, too. */
static long place_match(u32 at, void *arg)
{
	u32 place = at % WATCH_TASK_COMM, letter = at / WATCH_TASK_COMM % WATCH_TASK_COMM;
	u32 glob = at / WATCH_TASK_COMM / WATCH_TASK_COMM % SUBJECT_COMMS;
	struct match *m = arg;
	char wanted = m->names->comms[glob][place], found = m->name[letter];

	if (!place && !letter)
		m->places = wanted == '*' ? 3 : 1;
	if (!place)
		m->next = 0;
	if (!found) {
		m->found = m->found || (!wanted && m->places >> place & 1);
		return m->found;
	}
	if (m->places >> place & 1 && wanted == '*')
		m->next |= 3 << place;
	else if (m->places >> place & 1 && (wanted == '?' || wanted == found))
		m->next |= (place + 1 < WATCH_TASK_COMM && m->names->comms[glob][place + 1] == '*' ? 3 : 1) << (place + 1);
	if (place == WATCH_TASK_COMM - 1)
		m->places = m->next;
	return 0;
}

/* A name ends with a 0. */
static __always_inline bool name_is_of(const volatile struct subject_names *names, const char name[WATCH_TASK_COMM])
{
	struct match m = { .names = names };

	__builtin_memcpy(m.name, name, sizeof(m.name));
	bpf_loop(names->comm_count * WATCH_TASK_COMM * WATCH_TASK_COMM, place_match, &m, 0);
	return m.found;
}

/* All processes, for user space to choose from before it opens the window. */
SEC("?iter/task")
int walk_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct watch_member *member;
	struct watch_row row = {};

	if (!t || t->pid != t->tgid)
		return 0;
	task_describe(&row.task, t);
	row.pid = pid_seen_by_asker(t);
	row.in_cgroup = is_in_cgroup_of(&subject_named, t);
	row.left_out = is_in_cgroup_of(&subject_left_out, t);
	row.parent = BPF_CORE_READ(t, real_parent, tgid);
	row.running = POINTER_IN(task_struct, t, signal)->live.counter > 0;
	/* It may have ended just before it was added. */
	member = row.running ? NULL : bpf_map_lookup_elem(&members, &row.task.tgid);
	if (member)
		member_end(member);
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/* By its name, by the word that started it or by its cgroup. */
static __always_inline bool is_left_out(const struct watch_task *task, const struct task_struct *t, const char *word)
{
	return (subject_left_out.comm_count &&
		(name_is_of(&subject_left_out, task->comm) || name_is_of(&subject_left_out, word))) ||
	       is_in_cgroup_of(&subject_left_out, t);
}

/* Is it of the subject by what it is, whoever forked it? Of each kind that is named something must fit; of those that
 * are left out, anything. */
static __always_inline bool may_join(const struct watch_task *task, const struct task_struct *t, const char *word)
{
	bool named, placed;

	if (!others_join)
		return false;
	named = subject_named.comm_count && (name_is_of(&subject_named, task->comm) || name_is_of(&subject_named, word));
	placed = is_in_cgroup_of(&subject_named, t);
	if (members_are_left_out)
		return named || placed;
	return (named || !subject_named.comm_count) && (placed || !subject_named.cgroup_count) && !is_left_out(task, t, word);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct watch_task task = {};
	u32 tgid = child->tgid;
	bool inherits;

	if (parent->tgid == tgid)
		return 0;
	/* The number may be that of a process of the subject that is gone. */
	member_forget(tgid);
	inherits = !subject_childless && is_member(parent->tgid);
	if (!inherits && !others_join)
		return 0;
	task_describe(&task, child);
	if (!inherits && !may_join(&task, child, task.comm))
		return 0;
	member_add(&task, child);
	return 0;
}

#define TYPE_OF_FILE 0170000 /* include/uapi/linux/stat.h */
#define IS_SOCKET 0140000

struct brought_walk {
	struct watch_task task;
	struct file **files;
};

/* One that no book covers is lost from here on. */
static long socket_brought(u32 at, void *arg)
{
	struct brought_walk *w = arg;
	const struct socket *socket;
	const struct file *file = NULL;
	const struct sock *sk;
	u64 cookie;
	u8 state;

	bpf_probe_read_kernel(&file, sizeof(file), w->files + at);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & TYPE_OF_FILE) != IS_SOCKET)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	if (cookie && slot_find(cookie)) {
		if (bpf_map_update_elem(&brought, &cookie, &w->task, BPF_ANY))
			gauge_add(&watch_gauges.lost_members, 1);
		return 0;
	}
	if (BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP_NUMBER && datagrams_watched == DATAGRAMS_AWAITED)
		hooks_want(&watch_gauges.datagrams_due);
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP_NUMBER && state != BPF_TCP_LISTEN &&
	    state != BPF_TCP_CLOSE)
		gauge_add(&watch_gauges.unbooked, 1);
	return 0;
}

/* @p joins the subject with sockets that were none of its. */
static __always_inline void sockets_brought(const struct watch_task *task, const struct task_struct *p)
{
	struct brought_walk w = { .task = *task, .files = BPF_CORE_READ(p, files, fdt, fd) };
	u32 count = BPF_CORE_READ(p, files, fdt, max_fds);

	if (count)
		bpf_loop(count, socket_brought, &w, 0);
}

/* A process, or a thread of it, enters the subject's cgroup. */
SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(process_enter, struct cgroup *to, const char *path, struct task_struct *p)
{
	struct watch_task task = {};

	if (is_member(p->tgid) || !others_join)
		return 0;
	task_describe(&task, p);
	if (!may_join(&task, p, task.comm))
		return 0;
	member_add(&task, p);
	sockets_brought(&task, p);
	return 0;
}

enum { WORD_BYTES = 128 };

/* The last part of the word that the current task was started by, as user space compares it
 * (userspace/watch/options/called.c). Folders beyond so many bytes are part of the name, which then is none. */
static __always_inline void word_read(const struct task_struct *p, char name[WATCH_TASK_COMM])
{
	const char *start = (const char *)BPF_CORE_READ(p, mm, arg_start);
	char word[WORD_BYTES] = {};
	u32 last = 0;

	if (bpf_probe_read_user_str(word, sizeof(word), start) <= 0)
		return;
	for (u32 i = 0; i < WORD_BYTES && word[i]; i++)
		if (word[i] == '/')
			last = i + 1;
	bpf_probe_read_user_str(name, WATCH_TASK_COMM, start + last);
}

/* A process that becomes a program of that name. Its own name is new by now. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *p)
{
	char word[WATCH_TASK_COMM] = {};
	struct watch_task task = {};
	struct watch_member *member;
	u32 tgid = p->tgid;

	member = bpf_map_lookup_elem(&members, &tgid);
	task_describe(&task, p);
	if (subject_named.comm_count || subject_left_out.comm_count)
		word_read(p, word);
	if (member && is_left_out(&task, p, word)) {
		member_end(member);
		bpf_map_delete_elem(&members, &tgid);
		return 0;
	}
	if (member) {
		member->task = task;
		return 0;
	}
	if (!may_join(&task, p, word))
		return 0;
	member_add(&task, p);
	sockets_brought(&task, p);
	return 0;
}

/* The last thread of a process ends. Its descriptors are closed after this. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *p)
{
	struct watch_member *member;
	u32 tgid = p->tgid;

	if (POINTER_IN(task_struct, p, signal)->live.counter)
		return 0;
	member = bpf_map_lookup_elem(&members, &tgid);
	if (member)
		member_end(member);
	return 0;
}

/* A process was collected, and its descriptors are closed. Its number may be another one's by now. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *p)
{
	struct watch_member *member;
	u32 tgid = p->tgid;

	if (p->pid != p->tgid)
		return 0;
	member = bpf_map_lookup_elem(&members, &tgid);
	if (member && member->task.started_ns == p->start_boottime)
		member_forget(tgid);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
