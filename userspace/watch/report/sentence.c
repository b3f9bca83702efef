// SPDX-License-Identifier: GPL-2.0
/* Puts what a watched process did into one or two sentences, of phrases that its numbers back. */
#include "userspace/watch/report/sentence.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"

static const struct {
	uint32_t sites;
	uint64_t counts;
	const char *text;
} phrases[] = {
#define PHRASE_ROW(symbol, sites, counts, text) { sites, counts, text },
	PHRASES(PHRASE_ROW)
#undef PHRASE_ROW
};

/* What is said of @moved: text of SENTENCE_BYTES. */
struct sentence {
	const struct watch_movements *moved;
	char *text;
};

bool phrase_is_backed(enum phrase which, const struct watch_movements *m)
{
	uint64_t known = (m->counts_known & ~OF_PASSED) | (m->passed_unknown ? 0 : OF_PASSED);

	return (m->sites_known & phrases[which].sites) == phrases[which].sites &&
	       (known & phrases[which].counts) == phrases[which].counts;
}

/* A sentence does not begin with a joint. */
static const char *without_joint(const char *text)
{
	return text + strspn(text, ",;: ");
}

/* Appends a phrase with its words if every number is known that it needs. Did it? */
static bool say(struct sentence *s, enum phrase which, ...)
{
	const char *at = *s->text ? phrases[which].text : without_joint(phrases[which].text);
	size_t used = strlen(s->text);
	va_list words;

	if (!phrase_is_backed(which, s->moved))
		return false;
	va_start(words, which);
	for (; *at && used < SENTENCE_BYTES - 1; at++) {
		const char *word = *at == '%' ? va_arg(words, const char *) : NULL;

		if (word)
			used += snprintf(s->text + used, SENTENCE_BYTES - used, "%s", word);
		else
			s->text[used++] = *at;
	}
	va_end(words);
	s->text[used < SENTENCE_BYTES ? used : SENTENCE_BYTES - 1] = '\0';
	return true;
}

const char *verdict_name(enum verdict_of_process verdict)
{
	static const char *const names[] = {
#define VERDICT_NAME(symbol, name, meaning) name,
		WATCH_VERDICTS(VERDICT_NAME)
#undef VERDICT_NAME
	};

	return names[verdict];
}

/* Of "12.3 GB" and "98.2 %", in memory of the caller. */
struct words {
	char text[64];
};

static struct words size(uint64_t bytes)
{
	struct words w;

	bytes_text(bytes, w.text);
	return w;
}

static struct words share(uint64_t part, uint64_t whole)
{
	struct words w;

	share_text(part, whole, w.text);
	return w;
}

static struct words number(uint64_t n)
{
	struct words w;

	number_text(n, w.text);
	return w;
}

static struct words sockets(uint64_t n)
{
	char count[32];
	struct words w;

	number_text(n, count);
	snprintf(w.text, sizeof(w.text), "%s socket%s", count, n == 1 ? "" : "s");
	return w;
}

/* A number that is known and more than 0. */
static bool some(struct figure f)
{
	return f.known && f.bytes;
}

/* The whole has its reasons once for all processes. It has none for what is known of it: its sums lack sockets in
 * network namespaces that were not entered, as those are that a process has left, and the sums of processes do not.
 */
static const char *why_or_socket(const struct watch_record *r, const char *why)
{
	if (*why)
		return why;
	return r->unopened_sockets ? "one of its sockets lay in a network namespace that was not entered, or moved "
				     "datagrams before their hooks were attached" :
				     "for one of its sockets nobody counted it";
}

static const char *why_no(const struct watch_record *r, enum site site)
{
	return why_or_socket(r, r->sites[site].why);
}

/* Why nobody saw what became of some bytes behind the socket. */
static const char *why_no_fate(const struct watch_record *r, const struct watch_movements *m)
{
	if (!figure_site(m, SITE_late_copy).known)
		return why_no(r, SITE_late_copy);
	return "no device was seen to take them as pages, or one may have copied them unseen, as for an XDP program, "
	       "or they left before their packets were watched";
}

/* Why most of what was copied late was, and why the most of the rest; false if nothing is known of it. */
static bool chief_causes(const struct watch_movements *m, struct cause *chief, struct cause *second)
{
	struct cause causes[WATCH_CAUSES_MAX];
	int count = watch_causes_of(m, causes);

	for (int i = 0; i < count; i++) {
		if (causes[i].site != SITE_late_copy || causes[i].tally.bytes <= second->tally.bytes)
			continue;
		*second = causes[i];
		if (second->tally.bytes > chief->tally.bytes) {
			*second = *chief;
			*chief = causes[i];
		}
	}
	return chief->tally.bytes;
}

static void say_cause(uint64_t copied, struct sentence *s)
{
	struct cause chief = {}, second = {};

	if (!figure_site(s->moved, SITE_late_copy).known || !chief_causes(s->moved, &chief, &second))
		return;
	/* A capture copies a clone, and the packet itself may be copied for another reason. */
	if (second.tally.bytes >= copied)
		say(s, SAY_BECAUSE_BOTH, chief.name, second.name);
	else if (!strcmp(chief.name, "local delivery"))
		say(s, SAY_BECAUSE_LOCAL);
	else if (!strcmp(chief.name, "arrival on this machine"))
		say(s, SAY_BECAUSE_ARRIVED);
	else
		say(s, chief.tally.bytes < copied ? SAY_BECAUSE_MOSTLY : SAY_BECAUSE, chief.name, chief.remedy);
}

/* Of so many bytes, and what is known all the same. */
static void say_unknown_fate(const struct watch_record *r, uint64_t bytes, struct sentence *s)
{
	struct figure told = figure_count(s->moved, COUNT_copied_sends);
	struct figure completed = figure_count(s->moved, COUNT_completed_sends);
	uint64_t unseen = watch_unseen_firings(r);

	say(s, SAY_FATE_UNKNOWN, size(bytes).text, why_no_fate(r, s->moved));
	if (unseen)
		say(s, SAY_UNSEEN, number(unseen).text);
	if (some(told) && told.bytes == completed.bytes && !s->moved->unseen_completions)
		say(s, SAY_TOLD_COPIED, number(told.bytes).text);
}

/* What became of the bytes that send took by reference or spliced. */
static void say_fate(const struct watch_record *r, struct sentence *s)
{
	const struct watch_movements *m = s->moved;
	const struct watch_fate *fate = &m->fate;
	struct figure late = figure_site(m, SITE_late_copy), referenced = figure_site(m, SITE_tx_reference);
	uint64_t handed = referenced.bytes + figure_spliced(m).bytes;
	struct figure unknown = figure_unknown(m);

	if (!unknown.known) {
		say(s, SAY_NO_FATE, why_no(r, referenced.known ? SITE_tx_splice : SITE_tx_reference));
		return;
	}
	if (fate->later >= handed)
		say(s, SAY_ALL_LATER);
	else if (fate->later)
		say(s, SAY_SOME_LATER, share(fate->later, handed).text);
	if (fate->later)
		say_cause(fate->later, s);
	/* Headers and a packet or two sent again are no matter. */
	if (some(late) && some(referenced) && late.bytes > referenced.bytes + referenced.bytes / 1000)
		say(s, SAY_LATER_MORE, share(late.bytes, referenced.bytes).text);
	if (fate->uncopied >= handed)
		say(s, SAY_ALL_CLEAN);
	else if (fate->uncopied)
		say(s, SAY_SOME_CLEAN, share(fate->uncopied, handed).text);
	if (watch_unseen_most(r, fate))
		say(s, SAY_UNSEEN_MOST, size(watch_unseen_most(r, fate)).text, number(watch_unseen_firings(r)).text);
	if (unknown.bytes > fate->held)
		say_unknown_fate(r, unknown.bytes - fate->held, s);
	if (fate->held)
		say(s, SAY_HELD, size(fate->held).text);
}

/* How often it asked. Without a hook in each call it did so at least as often as the kernel obeyed. */
static void say_asked(struct sentence *s)
{
	struct figure asked = figure_count(s->moved, COUNT_zerocopy_asked_sends);
	struct figure made = figure_count(s->moved, COUNT_zerocopy_sends);

	if (some(asked))
		say(s, SAY_ASKED, number(asked.bytes).text);
	else if (some(made))
		say(s, SAY_ASKED_AT_LEAST, number(made.bytes).text);
	else
		say(s, SAY_ASKED_OFTEN);
}

static void say_declined(struct sentence *s)
{
	if (s->moved->declined_bytes)
		say(s, SAY_DECLINED, number(s->moved->count[COUNT_zerocopy_sends]).text, size(s->moved->declined_bytes).text);
}

static const char *source_of_pages(const struct watch_movements *m)
{
	return !m->spliced_in_kernel ? "the page cache or a pipe" :
	       m->spliced_in_kernel < m->site[SITE_tx_splice].bytes ? "the page cache, a pipe or memory of the kernel" :
								      "memory of the kernel, which sent it itself";
}

static void say_handed(const struct watch_record *r, struct sentence *s)
{
	struct figure sent = figure_sent(s->moved), copied = figure_site(s->moved, SITE_tx_copy);
	struct figure referenced = figure_site(s->moved, SITE_tx_reference);
	struct figure spliced = figure_spliced(s->moved);

	if (some(referenced)) {
		say_asked(s);
		say(s, SAY_REFERENCED, size(referenced.bytes).text);
	}
	if (some(spliced) && (some(referenced) || !sent.known))
		say(s, SAY_SPLICED_TOO, size(spliced.bytes).text, source_of_pages(s->moved));
	else if (some(spliced))
		say(s, SAY_SPLICED, share(spliced.bytes, sent.bytes).text, size(sent.bytes).text, source_of_pages(s->moved));
	say_fate(r, s);
	if (some(copied))
		say(s, SAY_COPIED, share(copied.bytes, sent.bytes).text, size(copied.bytes).text);
	say_declined(s);
}

/* What a program that copies could know about its path; no advice that no number backs. */
static void say_hints(const struct watch_sum *sum, struct sentence *s)
{
	struct figure sent = figure_sent(s->moved), calls = figure_count(s->moved, COUNT_send_calls);

	if (some(calls) && some(sent))
		say(s, SAY_SIZE, size(sent.bytes / calls.bytes).text);
	if (some(sent) && sum->sent_here_bytes == sent.bytes)
		say(s, SAY_LOCAL);
}

static void say_no_request(const struct watch_record *r, struct sentence *s)
{
	struct figure asked = figure_count(s->moved, COUNT_zerocopy_asked_sends);
	struct figure unset = figure_count(s->moved, COUNT_unset_sends);

	if (some(unset))
		say(s, SAY_IGNORED, number(unset.bytes).text);
	else if (s->moved->declined_bytes)
		say_declined(s);
	else if (!figure_site(s->moved, SITE_tx_reference).known)
		say(s, SAY_REFERENCES_UNKNOWN, why_no(r, SITE_tx_reference));
	/* Records of kernel TLS go by reference. */
	else if ((some(asked) || !say(s, SAY_ASKED_NOTHING)) && !s->moved->count[COUNT_tls_carried_bytes])
		say(s, SAY_NO_REFERENCE);
}

static void say_plain(const struct watch_record *r, const struct watch_process *p, struct sentence *s)
{
	struct figure sent = figure_sent(s->moved), copied = figure_site(s->moved, SITE_tx_copy);

	if (copied.known && copied.bytes >= sent.bytes) {
		say(s, SAY_COPIED_ALL, size(sent.bytes).text);
	} else {
		say(s, SAY_SENT, size(sent.bytes).text);
		if (some(copied))
			say(s, SAY_COPIED, share(copied.bytes, sent.bytes).text, size(copied.bytes).text);
	}
	if (!copied.known)
		say(s, SAY_COPIES_UNKNOWN, why_no(r, SITE_tx_copy));
	else
		say_no_request(r, s);
	if (p->verdict == VERDICT_COPIES)
		say_hints(&p->sum, s);
}

static void say_refused(struct sentence *s, bool told_asked)
{
	struct figure refused = figure_count(s->moved, COUNT_enobufs);
	struct figure optmem = figure_count(s->moved, COUNT_refused_optmem);
	struct figure memlock = figure_count(s->moved, COUNT_refused_memlock);

	if (!some(refused))
		return;
	if (!told_asked && some(figure_count(s->moved, COUNT_zerocopy_asked_sends)))
		say_asked(s);
	if (!say(s, SAY_REFUSED_OF_ASKED, number(refused.bytes).text))
		say(s, SAY_REFUSED, number(refused.bytes).text);
	if (watch_refused_at_rest(s->moved) >= refused.bytes && (say(s, SAY_FOR_LARGE) || say(s, SAY_AT_REST)))
		return;
	if (optmem.bytes > memlock.bytes)
		say(s, SAY_FOR_OPTMEM);
	else if (memlock.bytes)
		say(s, SAY_FOR_MEMLOCK);
}

static void say_sends(const struct watch_record *r, const struct watch_process *p, struct sentence *s)
{
	bool handed = some(figure_site(s->moved, SITE_tx_reference)) || some(figure_spliced(s->moved));

	if (handed)
		say_handed(r, s);
	say_refused(s, some(figure_site(s->moved, SITE_tx_reference)));
	if (!handed && some(figure_sent(s->moved)))
		say_plain(r, p, s);
}

/* Where every way out of the socket was counted: what recv copied beyond the rest was copied again. */
static void say_reads(struct sentence *s, uint64_t received)
{
	const struct watch_movements *m = s->moved;
	struct figure copied = figure_site(m, SITE_rx_copy);
	uint64_t elsewhere = m->passed_bytes + m->site[SITE_rx_discard].bytes + m->site[SITE_rx_direct].bytes;
	bool whole = phrase_is_backed(SAY_READ_ALL, m);
	uint64_t once = received > elsewhere ? received - elsewhere : 0;

	if (whole && !elsewhere && copied.bytes >= received) {
		say(s, SAY_READ_ALL);
		if (copied.bytes > once)
			say(s, SAY_READ_AGAIN, size(copied.bytes - once).text);
		return;
	}
	if (whole && copied.bytes > once) {
		if (once)
			say(s, SAY_READ, size(once).text);
		say(s, SAY_PEEKED, size(copied.bytes - once).text);
	} else if (some(copied)) {
		say(s, SAY_READ, size(copied.bytes).text);
	}
}

/* What left as pages; where no tracepoint tells of spliced and mapped ones apart, both. */
static void say_passed(struct sentence *s, uint64_t received)
{
	struct figure spliced = figure_site(s->moved, SITE_rx_splice);
	struct figure mapped = figure_site(s->moved, SITE_rx_map);
	struct figure asked = figure_count(s->moved, COUNT_map_calls);

	if (some(mapped))
		say(s, SAY_MAPPED, share(mapped.bytes, received).text);
	else if (some(asked))
		say(s, SAY_MAPPED_NONE, number(asked.bytes).text);
	if (some(spliced))
		say(s, SAY_SPLICED_OUT, share(spliced.bytes, received).text);
	if (!spliced.known && !mapped.known && s->moved->passed_bytes)
		say(s, SAY_PASSED_ON, share(s->moved->passed_bytes, received).text);
}

static void say_receives(const struct watch_record *r, struct sentence *s)
{
	struct figure received = figure_received(s->moved);
	struct figure discarded = figure_site(s->moved, SITE_rx_discard);
	bool copies_known = figure_site(s->moved, SITE_rx_copy).known;

	if (!received.known)
		say(s, SAY_RECEIVED_UNKNOWN, why_or_socket(r, r->count_why[COUNT_returned_bytes]));
	if (!some(received))
		return;
	say(s, SAY_RECEIVED, size(received.bytes).text);
	say_reads(s, received.bytes);
	say_passed(s, received.bytes);
	if (some(discarded))
		say(s, SAY_DISCARDED, share(discarded.bytes, received.bytes).text);
	if (!copies_known || !discarded.known || s->moved->passed_unknown)
		say(s, SAY_READS_UNKNOWN, why_no(r, !copies_known ? SITE_rx_copy : !discarded.known ?
						 SITE_rx_discard : SITE_rx_splice));
}

static void say_part(struct sentence *s, enum phrase which, enum site site)
{
	struct figure part = figure_site(s->moved, site);

	if (some(part))
		say(s, which, size(part.bytes).text);
}

static void say_tls(struct sentence *s)
{
	struct figure sent = figure_count(s->moved, COUNT_tls_accepted_bytes);
	struct figure received = figure_count(s->moved, COUNT_tls_received_bytes);

	if (some(sent) && say(s, SAY_ENCRYPTED, size(sent.bytes).text)) {
		say_part(s, SAY_FROM_BUFFERS, SITE_tls_reference);
		say_part(s, SAY_FROM_PAGES, SITE_tls_splice);
		say_part(s, SAY_INTO_RECORDS, SITE_tls_copy);
	}
	if (some(received) && say(s, SAY_DECRYPTED, size(received.bytes).text))
		say_part(s, SAY_INTO_BUFFERS, SITE_rx_direct);
}

/* Of a repaired socket no number is one of bytes that moved. What a sockmap passes on to the queue of another socket
 * moves no sequence number there. */
static struct words carried_by(enum watch_layer layer, const struct watch_other *other)
{
	uint64_t carried = other->sent_bytes + other->received_bytes;
	struct words w = size(carried), least;

	if (layer == WATCH_LAYER_REPAIR || (layer == WATCH_LAYER_SOCKMAP && !carried))
		return (struct words){ "bytes that cannot be counted" };
	if (layer != WATCH_LAYER_SOCKMAP)
		return w;
	snprintf(least.text, sizeof(least.text), "at least %.40s", w.text);
	return least;
}

static void say_others(const struct watch_sum *sum, struct sentence *s)
{
	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++) {
		if (sum->other[layer].sockets)
			say(s, SAY_OTHERS, sockets(sum->other[layer].sockets).text, watch_layer_name(layer),
			    carried_by(layer, &sum->other[layer]).text);
		if (layer == WATCH_LAYER_MPTCP && sum->other[layer].sent_bytes)
			say(s, SAY_MPTCP_COPIES);
	}
}

/* Of all processes: which of them holds a socket without a book is not kept. */
static void say_uncovered(const struct watch_record *r, struct sentence *s)
{
	static const char *const names[] = {
#define UNCOVERED_NAME(symbol, name) [WATCH_UNCOVERED_##symbol] = name,
		WATCH_UNCOVERED(UNCOVERED_NAME)
#undef UNCOVERED_NAME
	};
	char all[SENTENCE_BYTES / 4] = "", count[32];

	for (enum watch_uncovered kind = 0; kind < WATCH_UNCOVERED_COUNT; kind++) {
		size_t used = strlen(all);

		if (!r->uncovered[kind])
			continue;
		number_text(r->uncovered[kind], count);
		snprintf(all + used, sizeof(all) - used, "%s%s %s%s", used ? ", " : "", count, names[kind],
			 r->uncovered[kind] == 1 ? "" : "s");
	}
	if (*all)
		say(s, SAY_UNCOVERED, all, r->process_count > 1 ? " of the watched processes" : "");
}

/* Appends a part as a sentence of its own. */
static void join(char text[SENTENCE_BYTES], const char *part)
{
	static const char *const verbs[] = { "asked ", "received ", "sent " };
	size_t used = strlen(text);
	const char *it = "";

	if (!*part)
		return;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strncmp(part, verbs[i], strlen(verbs[i])))
			it = "It ";
	snprintf(text + used, SENTENCE_BYTES - used, "%s%s%s", used ? ". " : "", used ? it : "", part);
	if (used && !*it && used + 2 < SENTENCE_BYTES)
		text[used + 2] = toupper((unsigned char)text[used + 2]);
}

void sentence_of_process(const struct watch_record *r, const struct watch_process *p,
			 char text[SENTENCE_BYTES])
{
	const struct watch_movements *m = &p->sum.moved;
	char sends[SENTENCE_BYTES] = "", receives[SENTENCE_BYTES] = "", tls[SENTENCE_BYTES] = "";
	struct sentence sent = { m, sends }, received = { m, receives }, by_tls = { m, tls }, whole = { m, text };
	bool more_came = figure_received(m).bytes > figure_sent(m).bytes;

	*text = '\0';
	say_sends(r, p, &sent);
	say_receives(r, &received);
	join(text, more_came ? receives : sends);
	join(text, more_came ? sends : receives);
	say_tls(&by_tls);
	join(text, tls);
	if (!*text && p->verdict == VERDICT_NOT_KNOWN)
		(void)(say(&whole, SAY_PLAIN_NOTHING) || say(&whole, SAY_NOTHING_KNOWN));
	else if (!*text)
		(void)(say(&whole, SAY_NOTHING) || say(&whole, SAY_NOTHING_KNOWN));
	if (!*sends && !*receives && !*tls)
		say_uncovered(r, &whole);
	say_others(&p->sum, &whole);
	if (p->sum.handed_on)
		say(&whole, SAY_HANDED_ON, sockets(p->sum.handed_on).text);
	snprintf(text + strlen(text), SENTENCE_BYTES - strlen(text), ".");
}
