// SPDX-License-Identifier: GPL-2.0
/* Says what the books of a watch lack, and what is told beside them: refused requests, copies of MPTCP. */
#include "userspace/watch/gaps.h"

#include <stdio.h>

static struct watch_gap *gap(struct watch_record *r, const char *what, bool seen, const char *why)
{
	struct watch_gap *g = &r->not_covered[r->gap_count++];

	*g = (struct watch_gap){ .what = what, .seen = seen };
	snprintf(g->why, WHY_BYTES, "%s", why);
	return g;
}

/* Why the sockets of a layer are told apart. */
static const char *why_apart(const struct watch_looks *w, const struct watch_record *r, enum watch_layer layer)
{
	if (layer == WATCH_LAYER_MPTCP)
		return "what TCP carried for it is in no sum of sites. What it was given to send was copied: "
		       "mptcp_sendmsg() drops MSG_ZEROCOPY and what sendfile asks for";
	if (layer != WATCH_LAYER_KTLS)
		return "what TCP carried for it is in no sum of sites: whether it was copied above TCP is not measured";
	if (r->backend != BACKEND_TRAMPOLINE)
		return "what TCP carried for it is in no sum of sites: no tracepoint tells what it copies or encrypts";
	if (!w->hooked->tls)
		return "what TCP carried for it is in no sum of sites: when the watch began, the kernel had not loaded "
		       "its module tls (modprobe tls), or refused its hooks";
	return "what TCP carried for it is in no sum of sites: a device encrypts it, or its table had no room";
}

/* Sockets of these are found whenever they are seen, so that none is listed that was not. */
static void layers_fill(const struct watch_looks *w, struct watch_record *r)
{
	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++) {
		uint64_t sockets = r->total.other[layer].sockets;

		if (!sockets)
			continue;
		gap(r, watch_layer_name(layer), true, why_apart(w, r, layer))->sockets = sockets;
	}
}

/* Those that a walk over descriptors met, and since 6.3 those that were read from. */
static void uncovered_fill(const struct watch_looks *w, struct watch_record *r)
{
	const struct watch_gauges gauges = engine_gauges(w->probes);
	static const char no_books[] = "only TCP and UDP have these books";

	for (enum watch_uncovered kind = 0; kind < WATCH_UNCOVERED_COUNT; kind++)
		gap(r, watch_uncovered_names(kind), gauges.uncovered[kind], no_books)->sockets = gauges.uncovered[kind];
	gap(r, "RDMA", false, no_books);
}

static bool ports_decide(const struct watch_subject *s)
{
	return s->named.port_count || s->left_out.port_count;
}

static void mptcp_fill(const struct watch_looks *w, struct watch_record *r)
{
	bool calls = r->backend != BACKEND_TRAMPOLINE && engine_have(w->probes, "accepted");

	r->mptcp_copied = engine_gauges(w->probes).mptcp_copied;
	if (ports_decide(w->subject))
		snprintf(r->mptcp_why, WHY_BYTES, "ports name sockets of TCP, and no process");
	else if (!calls && !engine_have(w->probes, "MPTCP"))
		snprintf(r->mptcp_why, WHY_BYTES, r->backend == BACKEND_TRAMPOLINE ? "this kernel has no MPTCP" :
			 "without trampolines a hook of each send tells of it, with --books calls");
}

static void refused_fill(const struct watch_looks *w, struct watch_record *r)
{
	const struct watch_gauges gauges = engine_gauges(w->probes);

	for (enum watch_request request = 0; request < WATCH_REQUEST_COUNT; request++) {
		r->refused[request] = gauges.refused[request];
		r->refused_error[request] = gauges.refused_error[request];
	}
	if (ports_decide(w->subject))
		snprintf(r->refused_why, WHY_BYTES, "who asks by no port yet is not of the subject");
	else if (!engine_have(w->probes, "requests"))
		snprintf(r->refused_why, WHY_BYTES, w->details ? "no hook tells of it here" :
			 "without trampolines a hook of all system calls tells of it, which --detail attaches");
}

void gaps_fill(const struct watch_looks *w, struct watch_record *r)
{
	uint64_t sockmaps = engine_gauges(w->probes).sockmaps;

	refused_fill(w, r);
	mptcp_fill(w, r);
	if (w->subject->netns_short)
		gap(r, "network namespaces", true,
		    "there were more than this process may enter: what older sockets there moved is not measured");
	layers_fill(w, r);
	if (!w->hooked->datagrams)
		gap(r, "UDP", false, "begins and ends of its sockets are told by programs of control groups, which need "
		    "version 2 of these and CAP_NET_ADMIN, and since 7.0 a kernel that accepts trampolines");
	uncovered_fill(w, r);
	if (*r->refused_why)
		gap(r, w->details ? "refused options" : "refused options (--detail)", false, r->refused_why);
	if (sockmaps)
		gap(r, "sockmap redirects to ingress", true,
		    "this machine has a sockmap, and what it redirects moves no sequence number");
}
