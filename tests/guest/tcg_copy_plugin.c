// SPDX-License-Identifier: GPL-2.0
/*
 * How many bytes do given functions of a guest's kernel fill, seen from outside the guest?
 *
 * A plugin for QEMU's emulator (-plugin FILE,NAME=VALUE,...), told by addresses:
 *   out=FILE                  one line there for each mark: NAME ALL IN_WINDOW_0 IN_WINDOW_1 ...
 *   copy=NAME:START:END       a function that fills one stretch of memory in each call: summed
 *   enter=WINDOW:START:END    code that runs only inside a window (0, 1 or 2)
 *   leave=WINDOW:START:END    code that runs only outside of it
 *   mark=START:END            a function that the guest calls to ask for a line
 * One processor and one thread that ever enters a window, or the windows mix.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The few declarations of QEMU's plugin interface (version 1) that are used here. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { CB_NO_REGS = 0, MEM_WRITE = 2 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *), int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, uint32_t, uint64_t, void *),
				      int flags, int rw, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* memcpy stores its last bytes twice, and 64 of them before those in front. Further off lies what a
 * call from an interrupt in between filled. */
enum { RANGES_MAX = 16, WINDOWS = 3, STRETCH_GAP = 256 };

struct range {
	enum { COPY, ENTER, LEAVE, MARK } kind;
	char name[64];		/* of a copy */
	int window;
	uint64_t start, end;
	uint64_t low, high;	/* what this call has filled */
	bool in_window[WINDOWS];	/* when it began */
	uint64_t all, in[WINDOWS];
};

static struct range ranges[RANGES_MAX];
static int range_count;
static bool inside[WINDOWS];
static FILE *out;

static void close_stretch(struct range *copy)
{
	copy->all += copy->high - copy->low;
	for (int w = 0; w < WINDOWS; w++)
		if (copy->in_window[w])
			copy->in[w] += copy->high - copy->low;
	copy->low = copy->high = 0;
}

static void on_store(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t end = address + (1ull << qemu_plugin_mem_size_shift(info));
	struct range *copy = data;

	/* Asked for stores only, QEMU 7.2 calls for loads too. */
	if (!qemu_plugin_mem_is_store(info))
		return;
	if (copy->high && (end + STRETCH_GAP < copy->low || address > copy->high + STRETCH_GAP))
		close_stretch(copy);
	if (!copy->high) {
		copy->low = address;
		memcpy(copy->in_window, inside, sizeof(inside));
	}
	if (address < copy->low)
		copy->low = address;
	if (end > copy->high)
		copy->high = end;
}

static void on_call(unsigned int cpu, void *data)
{
	close_stretch(data);
}

static void on_pass(unsigned int cpu, void *data)
{
	const struct range *at = data;

	inside[at->window] = at->kind == ENTER;
}

static void on_mark(unsigned int cpu, void *data)
{
	for (struct range *r = ranges; r < ranges + range_count; r++) {
		if (r->kind != COPY)
			continue;
		close_stretch(r);
		fprintf(out, "%s %" PRIu64, r->name, r->all);
		for (int w = 0; w < WINDOWS; w++)
			fprintf(out, " %" PRIu64, r->in[w]);
		fputc('\n', out);
	}
	fflush(out);
}

/* A block of translated code lies in one function. */
static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t start = qemu_plugin_tb_vaddr(tb);

	for (struct range *r = ranges; r < ranges + range_count; r++) {
		if (start < r->start || start >= r->end)
			continue;
		if (r->kind == ENTER || r->kind == LEAVE)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_pass, CB_NO_REGS, r);
		if (r->kind == MARK && start == r->start)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_mark, CB_NO_REGS, r);
		if (r->kind != COPY)
			continue;
		if (start == r->start)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_call, CB_NO_REGS, r);
		for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
			qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_store,
							 CB_NO_REGS, MEM_WRITE, r);
	}
}

static bool parse(const char *word)
{
	static const char *const kinds[] = { "copy", "enter", "leave", "mark" };
	struct range *r = &ranges[range_count];
	char kind[8];
	int used = 0;

	if (!strncmp(word, "out=", 4)) {
		out = fopen(word + 4, "w");
		return out;
	}
	if (range_count == RANGES_MAX || sscanf(word, "%7[a-z]=%n", kind, &used) != 1 || !used)
		return false;
	word += used;
	for (int k = 0; k < 4; k++)
		if (!strcmp(kind, kinds[k]))
			r->kind = k;
	if (r->kind != MARK) {
		if (sscanf(word, "%63[^:]:%n", r->name, &used) != 1)
			return false;
		word += used;
		r->window = r->kind == COPY ? 0 : atoi(r->name) % WINDOWS;
	}
	range_count++;
	return sscanf(word, "%" SCNx64 ":%" SCNx64, &r->start, &r->end) == 2;
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!parse(argv[i])) {
			fprintf(stderr, "tcg_copy_plugin: cannot use %s\n", argv[i]);
			return 1;
		}
	}
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
