// SPDX-License-Identifier: GPL-2.0
/* Which calls of the programs moved bytes: the stacks that moved most as text, all of them as JSON. */
#include "userspace/watch/report/stacks_report.h"

#include <stdlib.h>
#include <string.h>

#include "userspace/common/json.h"
#include "userspace/common/printable.h"
#include "userspace/common/text.h"
#include "userspace/report/parts_json.h"
#include "userspace/watch/report/names.h"

enum { TEXT_BYTES = 1600, SHOWN_BYTES = 64, SHARE_BYTES = 48 };

static const char *const end_keys[] = { [STACK_WHOLE] = "whole", [STACK_CUT] = "deeper", [STACK_BROKE] = "no frame pointer",
					[STACK_UNREAD] = "unread", [STACK_OF_KERNEL] = "kernel", [STACK_OF_RING] = "io_uring" };
static const char *const end_texts[] = { [STACK_WHOLE] = "", [STACK_CUT] = "(deeper than 127 calls)",
					 [STACK_BROKE] = "(no frame pointer from here on)",
					 [STACK_UNREAD] = "(not named: the program had ended, or was not read)",
					 [STACK_OF_KERNEL] = "(the kernel, for no call of a program)",
					 [STACK_OF_RING] = "(a thread of io_uring's, after the call that submitted it)" };

/* Stacks that look the same, of addresses that differ within functions. */
struct row {
	const struct call_stack *stack;
	uint64_t bytes, calls;
	char text[TEXT_BYTES];	/* "send < work < main" */
};

static void join(const struct user_stacks *all, const struct call_stack *stack, char text[TEXT_BYTES])
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < stack->count && used < TEXT_BYTES - SHOWN_BYTES - 64; i++) {
		char name[STACK_FUNCTION_BYTES];

		stack_frame_name(all, &all->frames[all->places[stack->first + i]], name, sizeof(name));
		used += snprintf(text + used, TEXT_BYTES - used, "%s%.*s", used ? " < " : "", SHOWN_BYTES, printable(name));
	}
	if (stack->end)
		snprintf(text + used, TEXT_BYTES - used, "%s%s", used ? " < " : "", end_texts[stack->end]);
}

static int by_looks(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->stack->tgid != y->stack->tgid)
		return x->stack->tgid < y->stack->tgid ? -1 : 1;
	if (x->stack->site != y->stack->site)
		return x->stack->site < y->stack->site ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int most_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->bytes == y->bytes ? by_looks(a, b) : x->bytes < y->bytes ? 1 : -1;
}

static int merge(struct row *rows, int count)
{
	int kept = 0;

	qsort(rows, count, sizeof(*rows), by_looks);
	for (int i = 1; i < count; i++) {
		if (by_looks(&rows[kept], &rows[i])) {
			rows[++kept] = rows[i];
			continue;
		}
		rows[kept].bytes += rows[i].bytes;
		rows[kept].calls += rows[i].calls;
	}
	count = count ? kept + 1 : 0;
	qsort(rows, count, sizeof(*rows), most_first);
	return count;
}

static void name_process(const struct watch_record *r, const struct call_stack *stack, char name[WATCH_NAME_BYTES])
{
	const struct watch_process_id id = { stack->tgid, stack->started_ns };
	const char *comm = "";

	for (int i = 0; i < r->process_count; i++)
		if (r->processes[i].id.pid == id.pid && r->processes[i].id.started_ns == id.started_ns)
			comm = r->processes[i].comm;
	process_name(&id, comm, name);
}

/* "62.5 %"; of samples "62.5 % (58.1 to 66.7)" */
static void share_of_site(const struct watch_record *r, const struct row *row, uint64_t whole, char share[SHARE_BYTES])
{
	struct cpu_share s;

	if (!r->stack_every) {
		share_text(row->bytes, whole, share);
		return;
	}
	s = cpu_share_of(row->calls, whole / r->stack_every);
	snprintf(share, SHARE_BYTES, "%.1f %% (%.1f to %.1f)", 100 * s.share, 100 * s.low, 100 * s.high);
}

/*
 *   12.3 MB  62.5 %  tx_copy      send < five < main; 23 calls of python3, pid 812
 */
static void print_row(const struct watch_record *r, const struct row *row, uint64_t whole, const struct report_page *p)
{
	const char *what = r->stack_every ? "sample" : "call";
	char bytes[AMOUNT_BYTES], share[SHARE_BYTES], calls[32], name[WATCH_NAME_BYTES], head[128], line[TEXT_BYTES + WATCH_NAME_BYTES + 64];

	amount_text(p, row->bytes, bytes);
	share_of_site(r, row, whole, share);
	number_text(row->calls, calls);
	name_process(r, row->stack, name);
	snprintf(head, sizeof(head), "  %8s %8s  %-12s ", bytes, share, call_stack_site(row->stack));
	snprintf(line, sizeof(line), "%s; %s %s%s of %s", row->text, calls, what, row->calls == 1 ? "" : "s", name);
	page_text(p, head, line, 34);
}

static void print_replaced(const struct user_stacks *all, const struct report_page *p)
{
	for (int i = 0; i < all->module_count; i++)
		if (all->modules[i].replaced) {
			char line[STACK_PATH_BYTES + 160];

			snprintf(line, sizeof(line), "%s was replaced or removed while it ran: names are those of what ran",
				 printable(all->modules[i].path));
			page_text(p, "  ", line, 2);
		}
}

static void print_unread(const struct user_stacks *all, const struct report_page *p)
{
	char line[STACK_PATH_BYTES + 160];
	const char *first = NULL;
	int count = 0;

	for (int i = 0; i < all->module_count; i++)
		if (all->modules[i].unread && !count++)
			first = all->modules[i].path;
	if (!count)
		return;
	snprintf(line, sizeof(line), "%d file%s not read, so that calls there have an offset and no name (%s%s): the programs had "
		 "ended and the file was gone, or it may not be read", count, count == 1 ? " was" : "s were",
		 printable(first), count == 1 ? "" : ", ...");
	page_text(p, "  ", line, 2);
}

/* What is in no stack, and what is wrong with them. */
static void print_gaps(const struct watch_record *r, const struct report_page *p)
{
	const struct law *law = &r->stacks_law;
	char bytes[AMOUNT_BYTES], line[WHY_BYTES + 120];

	amount_text(p, r->total.unstacked_bytes, bytes);
	snprintf(line, sizeof(line), "%s are in no stack: calls of processes that are not watched, or before stacks were "
		 "kept, or found no room (%llu calls)", bytes, (unsigned long long)r->stacks.lost_calls);
	if (r->total.unstacked_bytes)
		page_text(p, "  ", line, 2);
	if (*r->stacks.why) {
		snprintf(line, sizeof(line), "no frame has a name: %s", r->stacks.why);
		page_text(p, "  ", line, 2);
	}
	print_replaced(&r->stacks, p);
	print_unread(&r->stacks, p);
	snprintf(line, sizeof(line), "law stacks: %s%s%s", law_status_name(law->status), *law->why ? ": " : "", law->why);
	if (law->status == LAW_BROKEN)
		page_tinted(p, TINT_BAD, "  ", line, 2);
	else
		page_text(p, "  ", line, 2);
}

void stacks_report_print(const struct watch_record *r, int top, const struct report_page *p)
{
	const struct user_stacks *all = &r->stacks;
	struct row *rows = r->stacks_asked ? calloc(all->stack_count + 1, sizeof(*rows)) : NULL;
	uint64_t of_site[WATCH_RETURNED + 1] = {};
	char every[32], line[160];
	int count;

	if (!rows)
		return;
	for (int i = 0; i < all->stack_count; i++) {
		rows[i] = (struct row){ .stack = &all->stacks[i], .bytes = all->stacks[i].bytes,
					.calls = all->stacks[i].calls };
		join(all, rows[i].stack, rows[i].text);
		of_site[rows[i].stack->site & WATCH_RETURNED] += rows[i].bytes;
	}
	count = merge(rows, all->stack_count);
	page_text(p, "\nwhere          ", "bytes of calls by the program's stack, the function that called last comes first, and "
		  "their share of the site", 15);
	if (r->stack_every) {
		number_text(r->stack_every, every);
		snprintf(line, sizeof(line), "sampled: one byte of %s, so each number of bytes is an estimate, and shares have 95 %% "
			 "intervals", every);
		page_text(p, "               ", line, 15);
	}
	for (int i = 0; i < count && i < top; i++)
		print_row(r, &rows[i], of_site[rows[i].stack->site & WATCH_RETURNED], p);
	if (count > top)
		fprintf(p->out, "  %d more stacks: --top %d\n", count - top, count);
	print_gaps(r, p);
	free(rows);
}

static json_t *module_json(const struct stack_module *m)
{
	char id[2 * BUILD_ID_BYTES + 1] = "";
	json_t *o = json_object();

	for (uint32_t i = 0; i < m->build_id_bytes && i < BUILD_ID_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", m->build_id[i]);
	put(o, "path", text(printable(m->path)));
	put(o, "build_id", text_or_null(id));
	put(o, "replaced", json_boolean(m->replaced));
	put(o, "read", json_boolean(!m->unread));
	return o;
}

static json_t *frame_json(const struct stack_frame *f)
{
	json_t *o = json_object();

	put(o, "module", integer_if(f->module != NO_MODULE, f->module));
	put(o, "offset", cookie_json(f->offset));
	put(o, "function", text_or_null(*f->function ? printable(f->function) : NULL));
	return o;
}

static json_t *stack_json(const struct user_stacks *all, const struct call_stack *s)
{
	json_t *frames = json_array(), *o = json_object();

	for (int i = 0; i < s->count; i++)
		json_array_append_new(frames, json_integer(all->places[s->first + i]));
	put(o, "pid", json_integer(s->tgid));
	put(o, "site", text(call_stack_site(s)));
	put(o, "bytes", json_integer(s->bytes));
	put(o, "calls", json_integer(s->calls));
	put(o, "end", text(end_keys[s->end]));
	put(o, "frames", frames);
	return o;
}

static json_t *law_json(const struct law *law)
{
	json_t *o = json_pack("{s:s}", "status", law_status_name(law->status));

	put_sides(o, law->known, law->left, law->right, law->residual, law->why);
	return o;
}

json_t *stacks_json(const struct watch_record *r)
{
	const struct user_stacks *all = &r->stacks;
	json_t *modules = json_array(), *frames = json_array(), *stacks = json_array();
	json_t *o = json_pack("{s:I, s:I, s:I}", "lost_bytes", (json_int_t)all->lost_bytes, "lost_calls",
			      (json_int_t)all->lost_calls, "unstacked_bytes", (json_int_t)r->total.unstacked_bytes);

	for (int i = 0; i < all->module_count; i++)
		json_array_append_new(modules, module_json(&all->modules[i]));
	for (int i = 0; i < all->frame_count; i++)
		json_array_append_new(frames, frame_json(&all->frames[i]));
	for (int i = 0; i < all->stack_count; i++)
		json_array_append_new(stacks, stack_json(all, &all->stacks[i]));
	put(o, "sampled_every_bytes", integer_if(r->stack_every, r->stack_every));
	put(o, "why", text_or_null(all->why));
	put(o, "law", law_json(&r->stacks_law));
	put(o, "modules", modules);
	put(o, "frames", frames);
	put(o, "stacks", stacks);
	return o;
}
