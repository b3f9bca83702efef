// SPDX-License-Identifier: GPL-2.0
/* Finds the kernel's functions in /proc/kallsyms and tells the plugin where they lie. */
#include "userspace/counters/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "userspace/counters/modelled.h"

enum { SYMBOL_LINE_BYTES = 512 };

/* Reads lines of /proc/kallsyms. */

enum { READ_BYTES = 1 << 16 };

/* The kernel shows addresses to a process that was allowed to see them when it opened the file. NULL with
 * errno. */
static FILE *symbol_lines_open(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");

	if (file)	/* the kernel hands out a page a call, if asked for as much */
		setvbuf(file, NULL, _IOFBF, READ_BYTES);
	return file;
}

/* What strtoull() reads from a line's start, in a tenth of its time. */
static uint64_t read_address(const char *line, const char **end)
{
	uint64_t address = 0;

	for (; *line && *line != ' '; line++)
		address = address << 4 | ((*line & 15) + (*line >= 'a' ? 9 : 0));
	*end = line;
	return address;
}

/*
 * The next line that shows an address: where its symbol starts, and its name in @line, which ends with a line's
 * end, or with a tab before the name of a module. 0 after the last one.
 */
static uint64_t symbol_lines_next(FILE *file, char line[SYMBOL_LINE_BYTES], const char **name)
{
	while (fgets_unlocked(line, SYMBOL_LINE_BYTES, file)) {
		uint64_t start = read_address(line, name);

		if (!start || strlen(*name) < 4)
			continue;
		*name += 3;	/* after " T " */
		return start;
	}
	return 0;
}

/* Calls of the kernel that move payload: a site may count inside of one only. */
enum { ANY_CALL, SEND_CALL, RECV_CALL };

enum kind { SITE, CALL, SOFTIRQ, IRQ, FRESH, SWITCH, COPY };

/* Of each release that has it. What a function calls belongs to it. */
static const struct known {
	const char *name;
	enum kind kind;
	enum model_site site;
	unsigned int call;
} known[] = {
	{ "tcp_sendmsg_locked", CALL, 0, SEND_CALL },
	{ "tcp_recvmsg_locked", CALL, 0, RECV_CALL },
	{ "_copy_from_iter", SITE, MODEL_TX_COPY, SEND_CALL },
	{ "csum_and_copy_from_iter", SITE, MODEL_TX_COPY, SEND_CALL },
	{ "iov_iter_get_pages2", SITE, MODEL_PIN, SEND_CALL },
	{ "skb_copy_ubufs", SITE, MODEL_LATE_COPY, ANY_CALL },
	{ "skb_copy_bits", SITE, MODEL_RESHAPE, ANY_CALL },
	{ "__pskb_pull_tail", SITE, MODEL_RESHAPE, ANY_CALL },
	{ "pskb_expand_head", SITE, MODEL_RESHAPE, ANY_CALL },
	{ "csum_partial", SITE, MODEL_CHECKSUM, ANY_CALL },
	{ "skb_checksum", SITE, MODEL_CHECKSUM, ANY_CALL },
	{ "__skb_checksum", SITE, MODEL_CHECKSUM, ANY_CALL },
	{ "_copy_to_iter", SITE, MODEL_RX_COPY, RECV_CALL },
	{ "__do_softirq", SOFTIRQ, 0, 0 },
	{ "handle_softirqs", SOFTIRQ, 0, 0 },	/* since 6.10 */
	{ "common_interrupt", IRQ, 0, 0 },
	{ "sysvec_apic_timer_interrupt", IRQ, 0, 0 },
	{ "sysvec_reschedule_ipi", IRQ, 0, 0 },
	{ "sysvec_call_function_single", IRQ, 0, 0 },
	{ "el1_interrupt", IRQ, 0, 0 },
	{ "el1h_64_irq_handler", IRQ, 0, 0 },
	{ "schedule_tail", FRESH, 0, 0 },
	{ "__switch_to_asm", SWITCH, 0, 0 },
	{ "cpu_switch_to", SWITCH, 0, 0 },	/* arm64 */
	{ "copy_user_generic_unrolled", COPY, 0, 0 },	/* up to 6.3 */
	{ "copy_user_generic_string", COPY, 0, 0 },
	{ "copy_user_enhanced_fast_string", COPY, 0, 0 },
	{ "copy_user_fast_string", COPY, 0, 0 },
	{ "rep_movs_alternative", COPY, 0, 0 },
	{ "memcpy", COPY, 0, 0 },
	{ "__memcpy", COPY, 0, 0 },
	{ "memcpy_orig", COPY, 0, 0 },
	{ "memcpy_erms", COPY, 0, 0 },
	{ "__arch_copy_from_user", COPY, 0, 0 },
	{ "__arch_copy_to_user", COPY, 0, 0 },
	{ "__pi_memcpy", COPY, 0, 0 },
	{ "copy_page", COPY, 0, 0 },
};

enum { KNOWN = sizeof(known) / sizeof(*known) };

struct place {
	uint64_t start, end;
};

/* The compiler may have added a word to the name; "cold" is another part of the function. */
static bool is_name(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(symbol, name, length))
		return false;
	symbol += length;
	return *symbol == '\n' || *symbol == '\t' || (*symbol == '.' && !strstr(symbol, ".cold"));
}

/*
 * Notes what a symbol says: where a function lies, or where one that lies before it ends. The kernel lists its
 * own symbols in the order of their addresses, and those of its modules, which have no function we want, after
 * them.
 */
static void note(struct place *places, uint64_t address, const char *symbol)
{
	for (int i = 0; i < KNOWN; i++) {
		struct place *p = &places[i];

		if (p->start && !p->end && address > p->start)
			p->end = address;
		/* Two letters tell most names apart, and an emulator is slow. */
		if (!p->start && *symbol == *known[i].name && symbol[1] == known[i].name[1] &&
		    is_name(symbol, known[i].name))
			p->start = address;
	}
}

static int find_all(struct place *places)
{
	FILE *file = symbol_lines_open();
	char line[SYMBOL_LINE_BYTES];
	const char *name;
	uint64_t address;

	if (!file)
		return -errno;
	while ((address = symbol_lines_next(file, line, &name)))
		note(places, address, name);
	fclose(file);
	return 0;
}

static void tell(const struct known *k, const struct place *p)
{
	static const char *const words[] = { [SOFTIRQ] = "softirq", [IRQ] = "irq", [FRESH] = "fresh",
					     [SWITCH] = "switch", [COPY] = "copy" };

	if (k->kind == SITE)
		marker_say("site %u %" PRIx64 " %u", k->site, p->start, k->call);
	else if (k->kind == CALL)
		marker_say("call %u %" PRIx64, k->call, p->start);
	else
		marker_say("%s %" PRIx64 " %" PRIx64, words[k->kind], p->start, p->end);
}

int functions_tell(void)
{
	struct place places[KNOWN] = {};
	bool any = false;
	int err = find_all(places);

	for (int i = 0; i < KNOWN && !err; i++) {
		any |= places[i].start;
		if (places[i].start)
			tell(&known[i], &places[i]);
	}
	return err ? err : any ? 0 : -EPERM;
}
