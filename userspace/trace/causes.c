// SPDX-License-Identifier: GPL-2.0
/* Why a byte that was to be referenced was copied, told by who called the copy, and the remedy. */
#include <stdio.h>
#include <string.h>

#include "userspace/trace/sites.h"

struct known_cause {
	const char *name;
	const char *remedy;
	const char *callers[6];	/* prefixes: the compiler adds suffixes such as .constprop.0 */
};

enum { LOCAL_DELIVERY, UNSET = 5, NO_BUFFERS };

static const struct known_cause known[] = {
	/* Up to 6.16 at the first hop, from 6.17 on only at the local socket (d2527ad3a9e1,
	 * "net: preserve MSG_ZEROCOPY with forwarding"). */
	[LOCAL_DELIVERY] = {
		"local delivery",
		"the receiver is on this machine: zero copy cannot pay here, use plain send",
		{ "__netif_receive_skb_core", "ip_local_deliver_finish", "ip_protocol_deliver_rcu",
		  "ip6_input_finish", "ip6_protocol_deliver_rcu" },
	},
	{ "packet tap", "stop the packet capture (tcpdump or alike): each one copies every byte",
	  { "dev_queue_xmit_nit" } },
	{ "tun", "the packet left through a tun or tap device, which copies: bypass it",
	  { "tun_net_xmit" } },
	{ "segmentation", "the device cannot segment or gather: switch tso and sg on (ethtool -K)",
	  { "skb_segment" } },
	{ "clone or expand", "something below TCP rewrites or clones packets: look for tc, netfilter "
	  "or tunnel rules on the path",
	  { "skb_clone", "pskb_expand_head", "__pskb_copy_fclone", "skb_zerocopy_clone",
	    "skb_morph" } },
	[UNSET] = { "SO_ZEROCOPY not set",
		    "setsockopt(SOL_SOCKET, SO_ZEROCOPY) first: the kernel ignores the flag without it",
		    {} },
	[NO_BUFFERS] = { "ENOBUFS", "read completions sooner, or raise net.core.optmem_max and "
				    "RLIMIT_MEMLOCK: such a send sent nothing and was tried again", {} },
};

static const struct known_cause *cause_of_caller(const char *frame, size_t len)
{
	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		for (const char *const *c = known[k].callers; c < known[k].callers + 6 && *c; c++) {
			size_t n = strlen(*c);

			if (len >= n && !strncmp(frame, *c, n) && (len == n || frame[n] == '.'))
				return &known[k];
		}
	}
	return NULL;
}

/* The innermost caller that is a known cause decides. */
static const struct known_cause *cause_of_stack(const char *frames)
{
	while (*frames) {
		size_t len = strcspn(frames, " ");
		const struct known_cause *found = cause_of_caller(frames, len);

		if (found)
			return found;
		frames += len;
		frames += strspn(frames, " <");
	}
	return NULL;
}

static struct cause *cause_add(struct record *r, const char *name, enum site site,
			       const char *remedy, struct tally tally)
{
	for (int i = 0; i < r->cause_count; i++) {
		struct cause *c = &r->causes[i];

		if (c->name != name || c->site != site || *c->stack)
			continue;
		c->tally.bytes += tally.bytes;
		c->tally.calls += tally.calls;
		return c;
	}
	if (r->cause_count == CAUSES_MAX)
		return NULL;
	r->causes[r->cause_count] = (struct cause){
		.name = name, .site = site, .tally = tally, .bytes_known = true, .remedy = remedy,
	};
	return &r->causes[r->cause_count++];
}

static void late_causes(struct record *r)
{
	for (int i = 0; i < r->ledger.late_count; i++) {
		const struct late_stack *late = &r->ledger.late[i];
		const struct known_cause *found = cause_of_stack(late->frames);
		struct cause *c;

		if (found) {
			cause_add(r, found->name, SITE_late_copy, found->remedy, late->tally);
			continue;
		}
		c = cause_add(r, "unknown", SITE_late_copy,
			      "not a caller that copyscope knows: please report this stack",
			      (struct tally){});
		if (!c)
			continue;
		c->tally = late->tally;
		snprintf(c->stack, sizeof(c->stack), "%s",
			 *late->frames ? late->frames : "(no stack: kernel.kptr_restrict hides it)");
	}
}

void causes_fill(struct record *r)
{
	const unsigned long long *n = r->ledger.total.count;
	struct tally none = {};
	const struct tally *late = &r->sites[SITE_late_copy].tally;
	struct cause *c;

	r->cause_count = 0;
	if (r->sites[SITE_late_copy].how == HOW_NOT_MEASURED)
		late = &none;
	else
		late_causes(r);
	/* No tracepoint fires between arrival and socket, so nothing but delivery is left. */
	if (r->backend == BACKEND_TRACEPOINT && late->bytes)
		cause_add(r, known[LOCAL_DELIVERY].name, SITE_late_copy,
			  known[LOCAL_DELIVERY].remedy, *late);
	if (n[COUNT_unset_sends])
		cause_add(r, known[UNSET].name, SITE_tx_copy, known[UNSET].remedy,
			  (struct tally){ n[COUNT_unset_bytes], n[COUNT_unset_sends] });
	if (n[COUNT_enobufs]) {
		c = cause_add(r, known[NO_BUFFERS].name, SITE_tx_reference,
			      known[NO_BUFFERS].remedy, (struct tally){ 0, n[COUNT_enobufs] });
		if (c)
			c->bytes_known = false;
	}
}
