// SPDX-License-Identifier: GPL-2.0
/* What a watch found of CPU time, as text: the share of copies of each process, then what it is made of. */
#include "userspace/watch/report/cpu_report.h"

#include <stdlib.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/report/names.h"

/* Fewer samples say next to nothing of a process. */
enum { SHARE_BYTES = 48, SAMPLES_LEAST = 20, THREADS_SHOWN = 4 };

/* "31 % (29 to 33)", with tenths below ten. */
static void share_with_interval(uint64_t part, uint64_t whole, char text[SHARE_BYTES])
{
	struct cpu_share s = cpu_share_of(part, whole);
	int digits = s.share < 0.0995;

	snprintf(text, SHARE_BYTES, "%.*f %% (%.*f to %.*f)", digits, 100 * s.share, digits, 100 * s.low,
		 digits, 100 * s.high);
}

/* The samples that a processor takes in a second of work: of a process that ran for so long. */
static double seconds_of(const struct watch_record *r, const struct cpu_use *use)
{
	return (double)use->all / r->cpu_hz;
}

/*
 *   copying payload in send       20 % (18 to 23)   200 samples, 3 in softirqs
 */
static void print_class(const struct cpu_use *use, enum cpu_class c, const struct report_page *p)
{
	char share[SHARE_BYTES], samples[32], softirq[32], line[128], beside[96];

	if (!use->samples[c])
		return;
	share_with_interval(use->samples[c], use->all, share);
	number_text(use->samples[c], samples);
	number_text(use->softirq[c], softirq);
	snprintf(line, sizeof(line), "  %-22s ", share);
	snprintf(beside, sizeof(beside), use->softirq[c] ? "%s; %s of %s samples in softirqs" : "%s",
		 cpu_class_meaning(c), softirq, samples);
	page_text(p, line, beside, 25);
}

/*
 *   12 % (10 to 14)       of it in memcpy and its kin
 */
static void print_user(const struct cpu_use *use, const struct report_page *p)
{
	char share[SHARE_BYTES], line[128], beside[96];

	for (enum cpu_user_kind kind = 0; kind < CPU_USER_KIND_COUNT; kind++) {
		if (!use->user[kind])
			continue;
		share_with_interval(use->user[kind], use->all, share);
		snprintf(line, sizeof(line), "  %-22s ", share);
		snprintf(beside, sizeof(beside), "of it %s", cpu_user_meaning(kind));
		page_text(p, line, beside, 25);
	}
}

/*
 *   thread worker, tid 813: 45 % (41 to 49) of these samples; copying payload 30 % (25 to 34) of its own
 */
static void print_thread(const struct cpu_use *use, const struct cpu_thread_use *t, const struct report_page *p)
{
	char comm[WATCH_NAME_BYTES], share[SHARE_BYTES], own[SHARE_BYTES], line[WATCH_NAME_BYTES + 2 * SHARE_BYTES + 96];

	comm_name(t->comm, comm);
	share_with_interval(t->all, use->all, share);
	share_with_interval(cpu_copies(t->samples), t->all, own);
	snprintf(line, sizeof(line), "thread %s, tid %u: %s of these samples; copying payload %s of its own", comm, t->tid,
		 share, own);
	page_text(p, "  ", line, 4);
}

/* Nothing if there is one thread. */
static void print_threads(const struct cpu_use *use, const struct report_page *p)
{
	uint64_t samples = 0, threads = 0;
	char share[SHARE_BYTES], line[SHARE_BYTES + 64];

	for (int i = 0; i < use->by_thread_count && use->by_thread_count > 1; i++) {
		const struct cpu_thread_use *t = &use->by_thread[i];

		if (i < THREADS_SHOWN && t->tid) {
			print_thread(use, t, p);
			continue;
		}
		samples += t->all;
		threads += t->threads;
	}
	if (!samples)
		return;
	share_with_interval(samples, use->all, share);
	if (threads)
		snprintf(line, sizeof(line), "%llu more threads: %s", (unsigned long long)threads, share);
	else
		snprintf(line, sizeof(line), "threads that are not told: %s", share);
	page_text(p, "  ", line, 4);
}

static void print_process(const struct watch_record *r, const struct watch_process *w,
			  const struct report_page *p)
{
	char name[WATCH_NAME_BYTES], share[SHARE_BYTES], whole[WATCH_NAME_BYTES + 256], samples[32];

	process_name(&w->id, w->comm, name);
	share_with_interval(cpu_copies(w->cpu.samples), w->cpu.all, share);
	number_text(w->cpu.all, samples);
	snprintf(whole, sizeof(whole), "%s: %s of its CPU time went into copying payload; %s samples, about %.2f s of "
		 "CPU time", name, share, samples, seconds_of(r, &w->cpu));
	page_text(p, "", whole, 2);
	if (w->cpu_clock == LAW_BROKEN) {
		snprintf(whole, sizeof(whole), "Do not trust these shares: the samples of its %llu threads stand for "
			 "%.2f s, and they had a processor for %.2f s.", (unsigned long long)w->cpu.threads,
			 (double)w->cpu.periods / r->cpu_hz, w->cpu.run_ns / 1e9);
		page_tinted(p, TINT_BAD, "  ", whole, 2);
	}
	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++) {
		print_class(&w->cpu, c, p);
		if (c == CPU_USER)
			print_user(&w->cpu, p);
	}
	print_threads(&w->cpu, p);
}

static int most_samples_first(const void *a, const void *b)
{
	uint64_t x = (*(const struct watch_process *const *)a)->cpu.all;
	uint64_t y = (*(const struct watch_process *const *)b)->cpu.all;

	return (x < y) - (x > y);
}

static void print_processes(const struct watch_record *r, int top, const struct report_page *p)
{
	const struct watch_process **all = calloc(r->process_count + 1, sizeof(*all));
	uint64_t others = 0;
	int shown = 0, further = 0;

	for (int i = 0; all && i < r->process_count; i++)
		all[i] = &r->processes[i];
	if (all)
		qsort(all, r->process_count, sizeof(*all), most_samples_first);
	for (int i = 0; all && i < r->process_count && all[i]->cpu.all; i++) {
		if (shown < top && (!i || all[i]->cpu.all >= SAMPLES_LEAST)) {
			print_process(r, all[i], p);
			shown++;
		} else {
			others += all[i]->cpu.all;
			further++;
		}
	}
	if (further)
		fprintf(p->out, "%d more process%s: %llu samples.\n", further, further == 1 ? "" : "es",
			(unsigned long long)others);
	if (!shown)
		fprintf(p->out, "No sample found a process of the subject on a processor.\n");
	free(all);
}

void cpu_report_print(const struct watch_record *r, int top, const struct report_page *p)
{
	char line[WHY_BYTES + 64], lost[32];

	if (!r->cpu_hz)
		return;
	if (!r->cpu_clock) {
		snprintf(line, sizeof(line), "not measured: %s", r->cpu_why);
		page_text(p, "\nCPU time       ", line, 15);
		return;
	}
	snprintf(line, sizeof(line), "sampled %u times a second by %s, with 95 %% intervals; what runs in a softirq "
		 "is charged to whom it interrupted", r->cpu_hz, r->cpu_clock);
	page_text(p, "\nCPU time       ", line, 15);
	number_text(r->cpu_lost, lost);
	if (r->cpu_lost)
		fprintf(p->out, "%s samples found no room and are in no share.\n", lost);
	snprintf(line, sizeof(line), "No function of user space has a name: %s", r->cpu_names_why);
	if (*r->cpu_names_why)
		page_text(p, "", line, 2);
	print_processes(r, top, p);
}
