/* SPDX-License-Identifier: GPL-2.0 */
/* What must be true of each law: which change of the books breaks it, and what leaves it untestable. */
#ifndef EXPECTED_LAWS_H
#define EXPECTED_LAWS_H

#include "tests/unit/made_record.h"

/* What a law needs besides hooks, and whether it holds however the two ends ended. */
enum expected {
	NEEDS_HOOKS = 0,	/* alone */
	NEEDS_TOTALS = 1,	/* of both ends */
	NEEDS_SOCKETS = 2,	/* each socket must be one of the workload's */
	NEEDS_TRAMPOLINE = 4,
	NEEDS_PACKETS = 8,	/* all that left, none kept from the probes */
	AT_ANY_END = 16,
	NEEDS_NO_PROBE = 32,
	OF_WITNESS = NEEDS_TOTALS | NEEDS_SOCKETS,
};

/* Each breaks one law of one flow, and no other law, by @n. */
static void break_send(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_tx_splice].bytes -= n;
}

static void break_reference(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_retrans_referenced_bytes] -= n;
}

static void break_receive(struct made *m, int flow, int n)
{
	made_rx(m, flow)->site[SITE_rx_discard].bytes -= n;
}

static void break_end_to_end(struct made *m, int flow, int n)
{
	made_rx(m, flow)->count[COUNT_returned_bytes] -= n;
	made_rx(m, flow)->site[SITE_rx_copy].bytes -= n;
	m->app[END_RECEIVER][flow].received_bytes -= n;
	m->app[END_RECEIVER][flow].tcp_returned_bytes -= n;
}

static void break_completion(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_completed_sends] -= n;
	m->app[END_SENDER][flow].completions -= n;
}

static void break_pin(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_released_pages] -= n;
}

static void break_refusal(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_enobufs] += n;
}

static void break_late_causes(struct made *m, int flow, int n)
{
	m->stacks[flow].tally.bytes -= n;
}

static void break_reshape_causes(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_reshape].bytes += n;
}

/* What was sent again may be copied twice: without that each send must say COPIED. */
static void break_copied(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_retrans_referenced_bytes] = 0;
	made_tx(m, flow)->site[SITE_late_copy].bytes -= RETRANSMITTED;
	m->stacks[flow].tally.bytes -= RETRANSMITTED;
	made_tx(m, flow)->count[COUNT_copied_sends] += n;
}

static void break_passes(struct made *m, int flow, int n)
{
	m->timed_app[END_SENDER][flow].accepted_bytes += n;
	m->timed_app[END_SENDER][flow].tcp_accepted_bytes += n;
}

/* TCP and the other pass agree with the workload here, and the probes do not. */
static void break_sent(struct made *m, int flow, int n)
{
	m->app[END_SENDER][flow].accepted_bytes += n;
	m->app[END_SENDER][flow].tcp_accepted_bytes += n;
	break_passes(m, flow, n);
}

static void break_received(struct made *m, int flow, int n)
{
	m->app[END_RECEIVER][flow].received_bytes += n;
	m->app[END_RECEIVER][flow].tcp_returned_bytes += n;
}

#define BREAK_WITNESS(name, end, field)                               \
	static void break_##name(struct made *m, int flow, int n)     \
	{                                                             \
		m->app[end][flow].field += n;                         \
	}
BREAK_WITNESS(sequence_accepted, END_SENDER, tcp_accepted_bytes)
BREAK_WITNESS(sequence_returned, END_RECEIVER, tcp_returned_bytes)
BREAK_WITNESS(gathered, END_SENDER, gather_bytes)
BREAK_WITNESS(sends, END_SENDER, zerocopy_sends)
BREAK_WITNESS(completions, END_SENDER, completions)
BREAK_WITNESS(content, END_RECEIVER, content_errors)

/* Every law, in the order of records. @hooks are those without any of which it is not testable. */
static const struct expected_law {
	const char *law;
	void (*break_law)(struct made *m, int flow, int n);
	bool per_socket;
	unsigned int traits;
	const char *hooks;
} expected_laws[] = {
	{ "send", break_send, true, NEEDS_PACKETS, "accepted,tx_copy,tx_reference," },
	{ "reference", break_reference, true, NEEDS_PACKETS,
	  "accepted,tx_copy,tx_reference,late_copy,reshape,drops," },
	{ "receive", break_receive, true, AT_ANY_END, "returned,rx_copy," },
	{ "end to end", break_end_to_end, false, NEEDS_HOOKS, "accepted,returned," },
	{ "completion", break_completion, true, NEEDS_TRAMPOLINE,
	  "accepted,tx_reference,completions," },
	{ "pin", break_pin, true, NEEDS_TRAMPOLINE, "accepted,tx_reference,completions," },
	{ "refusal", break_refusal, true, NEEDS_TRAMPOLINE | AT_ANY_END, "accepted,refusals," },
	{ "causes of late_copy", break_late_causes, false, NEEDS_TRAMPOLINE | AT_ANY_END,
	  "accepted,tx_reference,late_copy," },
	{ "causes of reshape", break_reshape_causes, false, NEEDS_TRAMPOLINE | AT_ANY_END, "accepted,reshape," },
	{ "witness sent", break_sent, true, OF_WITNESS, "accepted," },
	{ "witness received", break_received, true, OF_WITNESS, "returned," },
	{ "witness gathered", break_gathered, true, OF_WITNESS, "user_gather," },
	{ "witness zero-copy sends", break_sends, true, OF_WITNESS, "accepted," },
	{ "witness completions", break_completions, true, OF_WITNESS, "accepted," },
	{ "sequence accepted", break_sequence_accepted, true,
	  NEEDS_TOTALS | AT_ANY_END | NEEDS_NO_PROBE, "" },
	{ "sequence returned", break_sequence_returned, true,
	  NEEDS_TOTALS | AT_ANY_END | NEEDS_NO_PROBE, "" },
	{ "passes", break_passes, false, NEEDS_TOTALS, "" },
	{ "content", break_content, false, NEEDS_TOTALS | AT_ANY_END | NEEDS_NO_PROBE, "" },
	{ "copied", break_copied, true, NEEDS_PACKETS | AT_ANY_END, "accepted,tx_reference,late_copy," },
	{ "probes", NULL, false, NEEDS_PACKETS | AT_ANY_END, "" },
};

static void break_tls_send(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_tls_copy].bytes -= n;
}

/* The encrypted bytes are a side of two laws. */
static void break_tls_encryption(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_tls_encrypt].bytes -= n;
	made_tx(m, flow)->count[COUNT_tls_sent_overhead_bytes] += n;
}

static void break_tls_sent(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_tls_sent_overhead_bytes] -= n;
}

static void break_tls_received(struct made *m, int flow, int n)
{
	made_rx(m, flow)->count[COUNT_tls_received_overhead_bytes] -= n;
}

static void break_tls_receive(struct made *m, int flow, int n)
{
	made_rx(m, flow)->site[SITE_rx_direct].bytes -= n;
}

/* Of runs over kernel TLS: the laws that they alone have, and what TLS adds to another. */
static const struct expected_law expected_tls_laws[] = {
	{ "TLS send", break_tls_send, true, NEEDS_HOOKS, "TLS accepted,tls_copy,tls_reference,tls_splice," },
	{ "TLS encryption", break_tls_encryption, true, NEEDS_HOOKS, "TLS accepted,tls_encrypt," },
	{ "TLS records sent", break_tls_sent, true, NEEDS_HOOKS, "accepted,tls_encrypt,tx_splice," },
	{ "TLS records received", break_tls_received, true, OF_WITNESS, "tls_decrypt,TLS records," },
	{ "receive", break_tls_receive, true, AT_ANY_END, "rx_copy,rx_direct,returned,TLS returned," },
};

enum { EXPECTED_TLS_LAWS = sizeof(expected_tls_laws) / sizeof(*expected_tls_laws) };

enum { EXPECTED_LAWS = sizeof(expected_laws) / sizeof(*expected_laws) };

/* The names of the laws that have all of @traits and none of @without, as made_laws lists them. */
static inline const char *laws_with(unsigned int traits, unsigned int without)
{
	static char names[400];

	*names = '\0';
	for (int i = 0; i < EXPECTED_LAWS; i++)
		if ((expected_laws[i].traits & traits) == traits &&
		    !(expected_laws[i].traits & without))
			strcat(strcat(names, expected_laws[i].law), ",");
	return names;
}

/* The names of the laws that cannot be tested without a hook. */
static inline const char *laws_that_need(const char *hook)
{
	static char names[400];
	size_t length = strlen(hook);

	*names = '\0';
	for (int i = 0; i < EXPECTED_LAWS; i++)
		for (const char *at = expected_laws[i].hooks; *at; at = strchr(at, ',') + 1)
			if (!strncmp(at, hook, length) && at[length] == ',')
				strcat(strcat(names, expected_laws[i].law), ",");
	return names;
}

#endif
