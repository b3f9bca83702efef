// SPDX-License-Identifier: GPL-2.0
/* Decides how a run ended: complete, failed, interrupted or blind, and why. */
#include "userspace/judge/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "userspace/judge/laws.h"
#include "userspace/record/experiment.h"

const char *outcome_status_name(enum run_status status)
{
	static const char *const names[] = { "complete", "failed", "interrupted", "blind" };

	return names[status];
}

/* "the server" or "the client". */
static const char *end_role(enum end end)
{
	return end == END_SENDER ? "the server" : "the client";
}

static void signal_text(int number, char text[static 32])
{
	const char *name = sigabbrev_np(number);

	if (name)
		snprintf(text, 32, "%d (SIG%.10s)", number, name);
	else
		snprintf(text, 32, "%d", number);
}

void end_outcome_read(struct end_outcome *end, int wait_status)
{
	end->known = true;
	end->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
	end->exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
}

void outcome_note_told(struct run_ends *ends)
{
	for (int e = 0; e < END_COUNT; e++) {
		const struct end_outcome *end = &ends->end[e];

		if (end->told_to_end && !end->signal && !end->exit_status && !ends->interrupt_signal &&
		    !*ends->failure)
			snprintf(ends->failure, sizeof(ends->failure), "%s did not end by itself",
				 end_role(e));
	}
}

/* What is wrong with the end of one of them; empty if nothing is. */
static void end_fault(const struct record *r, enum end e, char *text, size_t size)
{
	const struct experiment *x = r->experiment;
	const struct end_outcome *end = &x->ends.end[e];
	char number[32];

	*text = '\0';
	if (end->known && end->signal && end->told_to_end) {
		snprintf(text, size, "%s did not end when told, and was killed", end_role(e));
	} else if (end->known && end->signal) {
		signal_text(end->signal, number);
		snprintf(text, size, "%s was killed by signal %s", end_role(e), number);
	} else if (end->known && end->exit_status) {
		const char *complaint = x->app[e].complaint;

		snprintf(text, size, "%s ended with status %d%s%s%s", end_role(e), end->exit_status,
			 *complaint ? " (" : "", complaint, *complaint ? ")" : "");
	} else if (x->ends.before_gate) {
		/* It had not been released. */
		*text = '\0';
	} else if (!x->app[e].known && x->ends.alone && !end->known) {
		snprintf(text, size, "nothing came from the host of %s", end_role(e));
	} else if (!x->app[e].known) {
		snprintf(text, size, "%s left no totals", end_role(e));
	}
}

/* By a signal from elsewhere: the tool itself kills an end that does not end when told. */
static bool was_killed(const struct end_outcome *end)
{
	return end->signal && !end->told_to_end;
}

/* What is wrong with either end, the cause in front: an end that was killed comes before the one that may have
 * failed for that, and an end that the tool had to kill comes last. */
static void ends_fault(const struct record *r, char *text, size_t size)
{
	const struct run_ends *ends = &r->experiment->ends;
	const struct end_outcome *tx = &ends->end[END_SENDER], *rx = &ends->end[END_RECEIVER];
	bool receiver_first = (was_killed(rx) && !was_killed(tx)) || (tx->told_to_end && !rx->told_to_end);
	enum end first = receiver_first ? END_RECEIVER : END_SENDER;
	char one[WHY_BYTES], other[WHY_BYTES];

	end_fault(r, first, one, sizeof(one));
	end_fault(r, END_COUNT - 1 - first, other, sizeof(other));
	snprintf(text, size, "%.115s%s%.115s", one, *one && *other ? "; " : "", other);
}

static void set(struct run_outcome *o, enum run_status status, const char *reason)
{
	o->status = status;
	snprintf(o->reason, sizeof(o->reason), "%s", reason);
}

/* The end that got a signal from elsewhere, or END_COUNT. */
static enum end stopped_end(const struct record *r)
{
	enum end e = END_SENDER;

	while (e < END_COUNT && (!record_app(r, e)->stopped_by || r->experiment->ends.end[e].told_to_end))
		e++;
	return e;
}

/* The signal that ended the run before its time, whoever got it. */
static int ending_signal(const struct record *r)
{
	int number = r->experiment->ends.interrupt_signal;

	return number || stopped_end(r) == END_COUNT ? number : record_app(r, stopped_end(r))->stopped_by;
}

/* What the probes missed; false if they missed nothing. */
static bool missed_text(const struct record *r, char text[static WHY_BYTES])
{
	*text = '\0';
	if (record_missed(r))
		snprintf(text, WHY_BYTES, "the kernel skipped %" PRIu64 " runs of probes", record_missed(r));
	else if (record_missed_hits(r, NULL))
		snprintf(text, WHY_BYTES, "the probes missed %" PRIu64 " packets",
			 record_missed_hits(r, NULL));
	return *text;
}

/* Bytes that the kernel accepted from a sender and that no receiver got. */
static uint64_t undelivered_bytes(const struct record *r)
{
	const struct app_totals *tx = record_app(r, END_SENDER), *rx = record_app(r, END_RECEIVER);
	uint64_t accepted = tx->sum.accepted_bytes + rx->sum.accepted_bytes;
	uint64_t received = tx->sum.received_bytes + rx->sum.received_bytes;

	return tx->known && rx->known && accepted > received ? accepted - received : 0;
}

static void set_interrupted(const struct record *r, struct run_outcome *o, const char *fault)
{
	int interrupt_signal = r->experiment->ends.interrupt_signal;
	uint64_t lacking = undelivered_bytes(r);
	char number[32], on_the_way[64] = "", missed[WHY_BYTES];

	signal_text(ending_signal(r), number);
	if (!*fault && !record_app(r, END_SENDER)->sum.accepted_bytes)
		snprintf(on_the_way, sizeof(on_the_way), "; no byte had been sent");
	else if (lacking && !*fault)
		snprintf(on_the_way, sizeof(on_the_way), "; %" PRIu64 " bytes were still on their way",
			 lacking);
	o->status = RUN_INTERRUPTED;
	snprintf(o->reason, sizeof(o->reason), "signal %s%s%s ended it before its time%s%s%.120s", number,
		 interrupt_signal ? "" : " to ", interrupt_signal ? "" : end_role(stopped_end(r)), on_the_way,
		 *fault ? "; " : "", fault);
	/* Its numbers are then not even those of the part that was made. */
	if (!*fault && missed_text(r, missed)) {
		size_t used = strlen(o->reason);

		snprintf(o->reason + used, sizeof(o->reason) - used, "; %s", missed);
	}
}

static void set_before_gate(const struct run_ends *ends, struct run_outcome *o, const char *fault,
			    bool counted)
{
	char number[32];

	signal_text(ends->interrupt_signal, number);
	o->status = ends->interrupt_signal ? RUN_INTERRUPTED : RUN_FAILED;
	if (ends->interrupt_signal)
		snprintf(o->reason, sizeof(o->reason), "signal %s ended it before %s began", number,
			 counted ? "its counted pass" : "it");
	else
		snprintf(o->reason, sizeof(o->reason), "%.120s before the %s began", fault,
			 counted ? "counted pass" : "run");
}

static void set_seen(const struct record *r, struct run_outcome *o)
{
	char missed[WHY_BYTES];

	set(o, missed_text(r, missed) ? RUN_BLIND : RUN_COMPLETE, missed);
}

static void decide(const struct record *r, struct run_outcome *o)
{
	const struct run_ends *ends = &r->experiment->ends;
	char fault[WHY_BYTES], line[WHY_BYTES], number[32];

	/* What happens to the ends after a signal is its consequence, unless the run had failed
	 * before. */
	ends_fault(r, fault, sizeof(fault));
	if (ends->before_gate) {
		set_before_gate(ends, o, fault, r->experiment->during == PASS_COUNTED);
	} else if (*ends->failure) {
		/* If the ends report a fault, it came first. */
		snprintf(line, sizeof(line), "%.140s%s%.90s", *fault ? fault : ends->failure,
			 *fault ? "; " : "", *fault ? ends->failure : "");
		set(o, RUN_FAILED, line);
	} else if (ends->interrupt_signal) {
		set_interrupted(r, o, fault);
	} else if (*fault && stopped_end(r) < END_COUNT) {
		signal_text(record_app(r, stopped_end(r))->stopped_by, number);
		snprintf(line, sizeof(line), "signal %s told %s to end; %.160s", number,
			 end_role(stopped_end(r)), fault);
		set(o, RUN_FAILED, line);
	} else if (*fault) {
		set(o, RUN_FAILED, fault);
	} else if (stopped_end(r) < END_COUNT) {
		set_interrupted(r, o, fault);
	} else if (!record_app(r, END_SENDER)->sum.accepted_bytes) {
		set(o, RUN_FAILED, "no byte was sent: give the run more --seconds");
	} else {
		set_seen(r, o);
	}
}

/* What ended one of two passes is told of that pass. The timed one is over when the other is blind. */
static void name_pass(const struct experiment *x, struct run_outcome *o)
{
	static const char *const names[] = { [PASS_TIMED] = "timed", [PASS_COUNTED] = "counted" };
	size_t length = strlen(o->reason);

	if (x->during == PASS_ONLY || x->ends.before_gate || o->status == RUN_COMPLETE ||
	    o->status == RUN_BLIND)
		return;
	if (length > WHY_BYTES - 24)
		length = WHY_BYTES - 24;
	snprintf(o->reason + length, WHY_BYTES - length, ", in the %s pass", names[x->during]);
}

void outcome_decide(struct record *r)
{
	decide(r, &r->outcome);
	name_pass(r->experiment, &r->outcome);
}

bool outcome_is_sound(const struct record *r)
{
	char fault[WHY_BYTES];

	ends_fault(r, fault, sizeof(fault));
	return r->outcome.status != RUN_FAILED &&
	       (r->outcome.status != RUN_INTERRUPTED ||
		(!*fault && record_app(r, END_SENDER)->sum.accepted_bytes && !undelivered_bytes(r)));
}

int outcome_exit_status(const struct record *r)
{
	if (r->outcome.status == RUN_FAILED || laws_broken(r->laws, r->law_count))
		return 1;
	return r->outcome.status == RUN_INTERRUPTED ? 128 + ending_signal(r) :
	       r->outcome.status == RUN_BLIND	    ? EXIT_BLIND : 0;
}

/* What TCP accepted and never sent is in no packet. Without spliced bytes that is missing; with them less than
 * nothing may have been copied. */
static void excuse_tx_copy(struct record *r)
{
	struct site_value *site = &r->sites[SITE_tx_copy];
	bool below = (int64_t)r->derived.total.site[SITE_tx_copy].bytes < 0;

	for (int i = 0; i < r->derived.socket_count; i++)
		below |= (int64_t)r->derived.sockets[i].books.site[SITE_tx_copy].bytes < 0;
	if (!below || site->how == HOW_NOT_MEASURED)
		return;
	site->how = HOW_NOT_MEASURED;
	snprintf(site->why, sizeof(site->why), "%s while spliced bytes had not left",
		 r->outcome.status == RUN_FAILED ? "the run failed" : "the run was interrupted");
}

void outcome_excuse_laws(struct record *r)
{
	bool alone = r->experiment->ends.alone;

	if (outcome_is_sound(r))
		return;
	excuse_tx_copy(r);
	for (int i = 0; i < r->law_count; i++) {
		struct law *law = &r->laws[i];

		if (law->status == LAW_NOT_TESTABLE || (law->at_any_end && !alone))
			continue;
		law->status = LAW_NOT_TESTABLE;
		snprintf(law->why, sizeof(law->why), "%s: this law needs both ends to have finished",
			 r->outcome.status == RUN_FAILED ? "the run failed" : "the run was interrupted");
	}
}
