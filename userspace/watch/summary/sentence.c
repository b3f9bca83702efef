// SPDX-License-Identifier: GPL-2.0
/* Puts what a watched process did into one or two sentences. */
#include "userspace/watch/summary/sentence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/summary/figures.h"

const char *verdict_name(enum verdict_of_process verdict)
{
	static const char *const names[] = {
		[WATCH_MOVED_NOTHING] = "moved nothing", [WATCH_COPIES] = "copies",
		[WATCH_SPLICES] = "splices", [WATCH_REFERENCES] = "references",
		[WATCH_IN_VAIN] = "in vain", [WATCH_REFUSED] = "refused",
	};

	return names[verdict];
}

static void add(char text[SENTENCE_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(char text[SENTENCE_BYTES], const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, SENTENCE_BYTES - used, format, args);
	va_end(args);
}

/* Of "12.3 GB" and "98.2 %", both in memory of the caller. */
struct words {
	char text[16];
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
	char long_text[32];
	struct words w;

	number_text(n, long_text);
	snprintf(w.text, sizeof(w.text), "%.15s", long_text);
	return w;
}

/* Sends that asked for zero copy. Without a hook in each call they are those that got it. */
static uint64_t asked_sends(const struct watch_movements *m)
{
	struct figure asked = figure_count(m, COUNT_zerocopy_asked_sends);

	return asked.known ? asked.bytes : m->count[COUNT_zerocopy_sends];
}

/* The chief cause of copies that were to be none, if one process alone asked for zero copy: causes
 * are known of all processes together. */
static const struct cause *chief_cause(const struct watch_record *r)
{
	int asking = 0;

	for (int i = 0; i < r->process_count; i++)
		asking += asked_sends(&r->processes[i].sum.moved) > 0;
	for (int i = 0; i < r->cause_count && asking == 1; i++)
		if (r->causes[i].bytes_known && strcmp(r->causes[i].name, "packet tap on tx"))
			return &r->causes[i];
	return NULL;
}

static void add_cause(const struct watch_record *r, uint64_t copied, char text[SENTENCE_BYTES])
{
	const struct cause *cause = chief_cause(r);

	if (!cause)
		return;
	if (!strcmp(cause->name, "local delivery"))
		add(text, ", because the receiver is local: plain send would be cheaper");
	else if (!strcmp(cause->name, "local delivery or packet tap"))
		add(text, ", because the receiver is local, unless a packet capture runs: plain send would "
			  "be cheaper");
	else
		add(text, ", %sbecause of %s: %s", cause->tally.bytes < copied ? "most of it " : "",
		    cause->name, cause->remedy);
}

/* What send copied although nothing was wrong: beside references or splices it is the smaller part. */
static void add_copied(const struct watch_movements *m, uint64_t sent, char text[SENTENCE_BYTES])
{
	struct figure copied = figure_site(m, SITE_tx_copy);

	if (copied.known && copied.bytes)
		add(text, "; %s, %s, was copied by send", share(copied.bytes, sent).text,
		    size(copied.bytes).text);
}

static void say_copies(const struct watch_movements *m, char text[SENTENCE_BYTES])
{
	uint64_t sent = figure_sent(m).bytes, unset = m->count[COUNT_unset_sends];

	if (!sent)
		return;
	add(text, "send copied all of %s", size(sent).text);
	if (unset)
		add(text, "; MSG_ZEROCOPY was ignored in %s sends, because SO_ZEROCOPY is not set",
		    number(unset).text);
	else
		add(text, "; it asked for no zero copy");
}

static void say_splices(const struct watch_movements *m, char text[SENTENCE_BYTES])
{
	uint64_t sent = figure_sent(m).bytes, spliced = m->site_bytes[SITE_tx_splice];
	struct figure reshaped = figure_site(m, SITE_reshape);

	add(text, "%s of %s was spliced from the page cache or a pipe", share(spliced, sent).text,
	    size(sent).text);
	if (!reshaped.known)
		add(text, ", not copied by send");
	else if (!reshaped.bytes)
		add(text, " and left without a CPU copy");
	else
		add(text, ", and the kernel moved %s on the way", size(reshaped.bytes).text);
	add_copied(m, sent, text);
}

static void say_references(const struct watch_record *r, const struct watch_movements *m,
			   char text[SENTENCE_BYTES])
{
	uint64_t referenced = m->site_bytes[SITE_tx_reference];
	struct figure later = figure_copied_later(m);

	add(text, "asked for zero copy in %s sends: ",
	    number(asked_sends(m)).text);
	if (!later.known) {
		add(text, "%s was sent by reference; whether it was copied later was not measured",
		    size(referenced).text);
	} else if (!later.bytes) {
		add(text, "all of %s was sent by reference and not copied later%s",
		    size(referenced).text, figure_site(m, SITE_reshape).known ? "" :
		    ", as far as was measured");
	} else {
		add(text, "%s was sent by reference, %s of it was copied later", size(referenced).text,
		    share(later.bytes, referenced).text);
		add_cause(r, later.bytes, text);
	}
	add_copied(m, figure_sent(m).bytes, text);
}

static void say_in_vain(const struct watch_record *r, const struct watch_movements *m,
			char text[SENTENCE_BYTES])
{
	add(text, "asked for zero copy in %s sends, and all of it was copied after all",
	    number(asked_sends(m)).text);
	add_cause(r, figure_copied_later(m).bytes, text);
}

static void say_refused(const struct watch_movements *m, char text[SENTENCE_BYTES])
{
	uint64_t optmem = m->count[COUNT_refused_optmem], memlock = m->count[COUNT_refused_memlock];

	add(text, "asked for zero copy in %s sends, and the kernel refused %s of them with ENOBUFS",
	    number(asked_sends(m)).text, number(m->count[COUNT_enobufs]).text);
	if (optmem > memlock)
		add(text, ", for want of option memory: read completions sooner, or raise "
			  "net.core.optmem_max");
	else if (memlock)
		add(text, ", by RLIMIT_MEMLOCK: wait for completions, or raise it");
	if (m->site_bytes[SITE_tx_reference])
		add(text, "; %s was sent by reference", size(m->site_bytes[SITE_tx_reference]).text);
}

/* What it received, as a sentence of its own after what it sent. */
static void add_received(const struct watch_movements *m, char text[SENTENCE_BYTES])
{
	static const struct {
		enum site site;
		const char *what;
	} ways[] = { { SITE_rx_copy, "copied by recv" }, { SITE_rx_map, "mapped" },
		     { SITE_rx_splice, "spliced out" }, { SITE_rx_discard, "discarded" } };
	struct figure received = figure_received(m);
	const char *joint = ": ";

	if (!received.known || !received.bytes)
		return;
	add(text, "%s %s", *text ? ". It received" : "received", size(received.bytes).text);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct figure way = figure_site(m, ways[i].site);

		if (!way.known || !way.bytes)
			continue;
		if (way.bytes == received.bytes)
			add(text, ", all %s", ways[i].what);
		else
			add(text, "%s%s %s", joint, share(way.bytes, received.bytes).text, ways[i].what);
		joint = ", ";
	}
}

void sentence_of_process(const struct watch_record *r, const struct watch_process *p,
			 char text[SENTENCE_BYTES])
{
	const struct watch_movements *m = &p->sum.moved;

	*text = '\0';
	switch (p->verdict) {
	case WATCH_MOVED_NOTHING:
		break;
	case WATCH_COPIES:
		say_copies(m, text);
		break;
	case WATCH_SPLICES:
		say_splices(m, text);
		break;
	case WATCH_REFERENCES:
		say_references(r, m, text);
		break;
	case WATCH_IN_VAIN:
		say_in_vain(r, m, text);
		break;
	case WATCH_REFUSED:
		say_refused(m, text);
		break;
	}
	add_received(m, text);
	add(text, *text ? "." : "moved no TCP payload.");
}
