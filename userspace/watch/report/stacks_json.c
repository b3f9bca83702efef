// SPDX-License-Identifier: GPL-2.0
/* Writes which calls of the programs moved bytes, by stack, as JSON. */
#include "userspace/watch/report/stacks_json.h"

#include "userspace/common/json.h"
#include "userspace/common/printable.h"

static const char *const end_keys[] = { [STACK_WHOLE] = "whole", [STACK_CUT] = "deeper", [STACK_BROKE] = "no frame pointer",
					[STACK_UNREAD] = "unread", [STACK_OF_KERNEL] = "kernel", [STACK_OF_RING] = "io_uring" };

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
	put(o, "modules", modules);
	put(o, "frames", frames);
	put(o, "stacks", stacks);
	return o;
}
