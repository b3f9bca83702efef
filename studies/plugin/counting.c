// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU's emulator: counts what the two ends of a run execute, load, store, miss and copy, outside
 * of the guest. docs/COUNTERS.md tells what its numbers mean.
 *
 * -plugin FILE,l1d=BYTES:WAYS,l2=BYTES:WAYS,llc=BYTES:WAYS,kind=inclusive|non-inclusive|victim,
 * line=BYTES,allocate=1|0,report=FD. All of the guest's processors must share one thread of the emulator.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "studies/plugin/cells.h"
#include "studies/plugin/code.h"
#include "studies/plugin/follow.h"
#include "studies/plugin/qemu.h"

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* A copy stores its last bytes twice, and some of them before those in front. Further off lies what an
 * interrupt in between filled. */
enum { STRETCH_GAP = 256, X86_STACK_BYTES = 16384, LINE_BYTES = 128 };

/* What a copying function has filled in one call. */
struct stretch {
	uint64_t low, high;	/* high is 0: nothing */
	struct cell *cell;
};

struct processor {
	struct runner runner;
	struct cell *cell;	/* that its instructions count for */
	struct stretch stretch;
};

static struct hierarchy_shape shape = { .line_bytes = 64, .llc = LLC_NON_INCLUSIVE, .write_allocate = true };
static struct hierarchy *caches;
static struct processor processors[CACHE_PROCESSORS_MAX];
static struct cell unseen;		/* outside of the window */
static struct cell *running = &unseen;	/* of the processor that executes */
static uint64_t executed, settled;	/* instructions of all processors: the emulator adds to the first */
static bool is_open;
/* Between "begin" and "close" all code is watched. Before and after, only stores of user space are. */
static bool is_watching;
static qemu_plugin_id_t own_id;
static int report = -1;

/* What was executed up to here is the running cell's. */
static void settle(void)
{
	running->instructions += executed - settled;
	settled = executed;
}

static void stretch_close(struct stretch *s)
{
	if (s->high)
		s->cell->copied_bytes += s->high - s->low;
	s->low = s->high = 0;
}

static struct cell *cell_of(const struct processor *p)
{
	const struct task *t = p->runner.task;
	bool kernel = p->runner.block && p->runner.block->kernel;
	enum marker_context context = !kernel ? MARKER_USER : t->softirq ? MARKER_SOFTIRQ : MARKER_KERNEL;

	return is_open ? &cells[t->role][context][kernel ? t->site : t->user_site] : &unseen;
}

static void run_on(struct processor *p)
{
	struct cell *cell = cell_of(p);

	if (cell != p->cell)
		stretch_close(&p->stretch);
	p->cell = running = cell;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static bool can_forget_callbacks(void)
{
	return qemu_get_cpu && qemu_plugin_disable_mem_helpers;
}

static void begin_again(qemu_plugin_id_t id)
{
	follow_anew();
	for (unsigned int i = 0; i < shape.processors; i++) {
		follow_begin(&processors[i].runner, i);
		if (can_forget_callbacks())
			qemu_plugin_disable_mem_helpers(qemu_get_cpu(i));
	}
	code_forget_blocks();
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
}

/* The emulator throws away what it has translated, and calls begin_again(). Where it might follow a stale
 * pointer to callbacks, code is watched to the end, which only takes time. */
static void watch(bool watching)
{
	if (watching == is_watching || (!watching && !can_forget_callbacks()))
		return;
	is_watching = watching;
	qemu_plugin_reset(own_id, begin_again);
}

static void obey(const char *line)
{
	if (!strcmp(line, "begin")) {
		watch(true);
	} else if (!strcmp(line, "open")) {
		cells_clear();
		hierarchy_empty(caches);
		is_open = true;
	} else if (!strcmp(line, "close")) {
		is_open = false;
		gather_forget();
		if (!cells_write(report))
			fprintf(stderr, "copyscope plugin: the guest does not take the counts\n");
		watch(false);
	} else if (!code_learn(line)) {
		fprintf(stderr, "copyscope plugin: cannot use the line %s\n", line);
	}
}

static void hear_letter(struct processor *p, char letter)
{
	static char line[LINE_BYTES];
	static size_t used;

	if (letter != '\n') {
		line[used] = letter;
		used += used < sizeof(line) - 1;
		return;
	}
	line[used] = '\0';
	used = 0;
	stretch_close(&p->stretch);
	obey(line);
}

/* A store to the page that the guest's programs speak by. */
static void hear(struct processor *p, unsigned int offset)
{
	struct task *t = p->runner.task;

	settle();
	if (offset < MARKER_OTHER) {
		hear_letter(p, offset);
	} else if (offset <= MARKER_RECEIVER) {
		t->role = offset - MARKER_OTHER;
	} else if (offset == MARKER_FIRST || offset == MARKER_LAST) {
		t->points = offset;
	} else {
		p->cell->copied_bytes += gather_end(&t->gathered);
		t->user_site = offset == MARKER_GATHER_BEGINS;
	}
	run_on(p);
	p->cell->calls += offset == MARKER_GATHER_BEGINS;
}

static void stretch_add(struct processor *p, uint64_t address, unsigned int bytes)
{
	struct stretch *s = &p->stretch;
	uint64_t end = address + bytes;

	if (s->high && (end + STRETCH_GAP < s->low || address > s->high + STRETCH_GAP))
		stretch_close(s);
	if (!s->high)
		*s = (struct stretch){ address, end, p->cell };
	if (address < s->low)
		s->low = address;
	if (end > s->high)
		s->high = end;
}

/* A store of user space to memory of its own. */
static void on_own_store(struct task *t, uint64_t address, unsigned int bytes)
{
	if (t->points == MARKER_FIRST)
		t->first = address;
	else if (t->points == MARKER_LAST)
		gather_learn(t->first, address);
	t->points = 0;
	if (t->user_site)
		gather_add(&t->gathered, address, bytes);
}

static void on_access(unsigned int processor, uint32_t info, uint64_t address, void *data)
{
	unsigned int bytes = 1u << qemu_plugin_mem_size_shift(info);
	bool store = qemu_plugin_mem_is_store(info);
	struct processor *p = &processors[processor];
	const struct qemu_plugin_hwaddr *where;
	const struct block *b = data;

	if (!b->kernel && address - MARKER_ADDRESS < MARKER_BYTES) {
		if (store)
			hear(p, address - MARKER_ADDRESS);
		return;
	}
	if (b->switches)
		follow_switch(&p->runner, address);
	if (!is_open)
		return;
	if (!b->kernel && store)
		on_own_store(p->runner.task, address, bytes);
	if (b->copies && store && p->runner.task->site && !follow_is_stack(p->runner.task, address))
		stretch_add(p, address, bytes);
	where = qemu_plugin_get_hwaddr(info, address);
	if (where && !qemu_plugin_hwaddr_is_io(where))
		hierarchy_access(caches, processor, qemu_plugin_hwaddr_phys_addr(where), bytes, store,
				 &p->cell->access);
}

static void on_block(unsigned int processor, void *data)
{
	struct processor *p = &processors[processor];
	const struct block *b = data;
	bool enters;

	settle();
	enters = follow_block(&p->runner, b);
	run_on(p);
	if (enters || b->copy_begins)
		stretch_close(&p->stretch);
	p->cell->calls += enters;
}

static void on_store(unsigned int processor, uint32_t info, uint64_t address, void *data)
{
	if (address - MARKER_ADDRESS < MARKER_BYTES && qemu_plugin_mem_is_store(info))
		hear(&processors[processor], address - MARKER_ADDRESS);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	bool kernel = qemu_plugin_tb_vaddr(tb) >> 63;
	struct block *b = is_watching ? code_block(tb) : NULL;

	if (!b && kernel)
		return;
	if (b)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, CB_NO_REGS, b);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (b)
			qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &executed, 1);
		qemu_plugin_register_vcpu_mem_cb(insn, b ? on_access : on_store, CB_NO_REGS,
						 b ? MEM_READ_AND_WRITE : MEM_WRITE, b);
	}
}

static bool parse_kind(const char *word)
{
	static const char *const kinds[LLC_KINDS] = { "inclusive", "non-inclusive", "victim" };

	for (int k = 0; k < LLC_KINDS; k++) {
		if (!strcmp(word, kinds[k])) {
			shape.llc = k;
			return true;
		}
	}
	return false;
}

static bool parse(const char *word)
{
	static const char *const levels[CACHE_LEVELS] = { "l1d", "l2", "llc" };
	char name[16];
	int used = 0, number;

	if (sscanf(word, "%15[a-z0-9]=%n", name, &used) != 1 || !used)
		return false;
	word += used;
	for (int l = 0; l < CACHE_LEVELS; l++)
		if (!strcmp(name, levels[l]))
			return sscanf(word, "%" SCNu64 ":%" SCNu32, &shape.level[l].bytes,
				      &shape.level[l].ways) == 2;
	if (!strcmp(name, "kind"))
		return parse_kind(word);
	if (sscanf(word, "%d", &number) != 1)
		return false;
	if (!strcmp(name, "line"))
		shape.line_bytes = number;
	else if (!strcmp(name, "allocate"))
		shape.write_allocate = number;
	else if (!strcmp(name, "report"))
		report = number;
	else
		return false;
	return true;
}

static const char *prepare(const struct qemu_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!parse(argv[i]))
			return argv[i];
	if (!info->system_emulation || !code_target(info->target_name))
		return "an emulator of this architecture";
	if (report < 0)
		return "no report=FD";
	shape.processors = info->system.max_vcpus;
	if (hierarchy_fault(&shape))
		return hierarchy_fault(&shape);
	caches = hierarchy_create(&shape);
	return caches ? NULL : "so little memory";
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	const char *fault = prepare(info, argc, argv);

	if (fault) {
		fprintf(stderr, "copyscope plugin: cannot use %s\n", fault);
		return 1;
	}
	/* Arm's kernel keeps a task's registers in the task's own memory, x86's on its stack. */
	if (!strcmp(info->target_name, "x86_64"))
		follow_stack_bytes = X86_STACK_BYTES;
	for (unsigned int i = 0; i < shape.processors; i++) {
		follow_begin(&processors[i].runner, i);
		processors[i].cell = &unseen;
	}
	own_id = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
