// SPDX-License-Identifier: GPL-2.0
/* Prints what the emulator's plugin counted: the caches, the sums of each end, the sums of each site. */
#include "userspace/report/modelled/modelled_json.h"

#include "userspace/common/json/json.h"

static json_t *caches_json(const struct model_caches *c)
{
	json_t *o = json_pack("{s:s, s:s, s:i, s:s, s:b}", "name", c->name, "emulator", c->emulator,
			      "line_bytes", (int)c->line_bytes, "llc_kind", c->llc_kind,
			      "write_allocate", c->write_allocate);

	for (unsigned int l = 0; l < MODEL_LEVELS; l++)
		put(o, model_level_name(l),
		    json_pack("{s:I, s:i}", "bytes", (json_int_t)c->level[l].bytes, "ways",
			      (int)c->level[l].ways));
	return o;
}

static json_t *row(unsigned int role, unsigned int context)
{
	return json_pack("{s:s, s:s}", "end", model_role_name(role), "context",
			 model_context_name(context));
}

static json_t *ends_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (unsigned int role = 0; role < BELL_ROLES; role++) {
		for (unsigned int context = 0; context < BELL_CONTEXTS; context++) {
			json_t *o = row(role, context);

			for (int i = 0; i < BELL_COPIED_BYTES; i++)
				put(o, model_count_name(i),
				    json_integer(model_sum(m, role, context, i)));
			json_array_append_new(list, o);
		}
	}
	return list;
}

/* Sites that nothing passed are left out. */
static json_t *sites_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (int site = MODEL_ELSEWHERE + 1; site < MODEL_SITES; site++) {
		for (int cell = 0; cell < BELL_ROLES * BELL_CONTEXTS; cell++) {
			unsigned int role = cell / BELL_CONTEXTS, context = cell % BELL_CONTEXTS;
			const uint64_t *count = m->count[role][context][site];
			json_t *o;

			if (!count[BELL_INSTRUCTIONS])
				continue;
			o = row(role, context);
			put(o, "site", text(model_site_name(site)));
			for (int i = 0; i < BELL_COUNTS; i++)
				put(o, model_count_name(i),
				    integer_if(i != BELL_COPIED_BYTES || context != BELL_USER || count[i],
					       count[i]));
			json_array_append_new(list, o);
		}
	}
	return list;
}

json_t *modelled_json(const struct modelled *m)
{
	json_t *o;

	if (!m->asked)
		return NULL;
	o = json_object();
	put(o, "how", text("modelled"));
	put(o, "why", text_or_null(m->why));
	put(o, "caches", caches_json(&m->caches));
	put(o, "ends", m->known ? ends_json(m) : json_null());
	put(o, "sites", m->known ? sites_json(m) : json_null());
	return o;
}
