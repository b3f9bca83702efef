// SPDX-License-Identifier: GPL-2.0
/* Prints what all records hold as JSON: their beginning, backend, sites, causes, laws. */
#include "userspace/report/parts_json.h"

#include <errno.h>

#include "userspace/common/json.h"
#include "userspace/tables/release.h"

#ifndef COPYSCOPE_VERSION
#define COPYSCOPE_VERSION "unknown"
#endif

const char tool_version[] = COPYSCOPE_RELEASE;
const char tool_commit[] = COPYSCOPE_VERSION;

static json_t *tool_json(void)
{
	return json_pack("{s:s, s:s}", "version", tool_version, "commit", tool_commit);
}

json_t *machine_json(const struct machine *m)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:b, s:b}", "kernel", m->kernel, "arch",
			 m->arch, "cpu_model", m->cpu_model, "cpus", m->cpus, "virt", m->virt,
			 "lockdown", m->lockdown, "memory_bytes", (json_int_t)m->memory_bytes,
			 "emulated", m->emulated, "instruction_clock", m->instruction_clock);
}

static json_t *probes_json(const struct probe *probes, int count, bool timed)
{
	json_t *array = json_array();

	for (int i = 0; i < count; i++) {
		const struct probe *p = &probes[i];
		bool attached = p->status == PROBE_ATTACHED;
		json_t *o = json_pack("{s:s, s:s, s:s}", "site", p->metric, "hook", p->hook, "status",
				      probe_status_name(p->status));

		put(o, "why", text_or_null(p->why));
		put(o, "runs", integer_if(attached && timed, p->runs));
		put(o, "run_time_ns", integer_if(attached && timed, p->run_time_ns));
		put(o, "missed_runs", integer_if(attached, p->missed_runs));
		put(o, "unseen_firings", integer_if(p->perf_checked, p->missed_hits));
		json_array_append_new(array, o);
	}
	return array;
}

json_t *backend_json(const struct measured *m, bool timed)
{
	json_t *o = json_pack("{s:s, s:s}", "name", backend_name(m->backend), "why", m->backend_why);

	put(o, "probes", probes_json(m->probes, m->probe_count, timed));
	return o;
}

/* Keys are in the order of this function. */
json_t *record_begin_json(const struct measured *m, const struct record_begin *b)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "schema", "copyscope.record/4", "id", m->id, "started", m->started);

	put(o, "command", b->command);
	put(o, "tool", tool_json());
	put(o, "machine", machine_json(&m->machine));
	put(o, "subject", b->subject);
	put(o, "window", json_pack("{s:f, s:s}", "seconds", m->window_ns / 1e9, "ended_by", b->ended_by));
	put(o, "books", text(b->books));
	put(o, "detail", json_boolean(b->details));
	put(o, "backend", backend_json(m, b->timed));
	return o;
}

static json_t *site_json(enum how how, uint64_t bytes, json_t *calls)
{
	json_t *o = json_object();

	put(o, "bytes", integer_if(how != HOW_NOT_MEASURED, bytes));
	put_if(o, "calls", calls);
	put(o, "how", text(how_name(how)));
	return o;
}

json_t *sites_json(const struct site_value sites[SITE_COUNT], bool calls)
{
	json_t *o = json_object();

	for (enum site s = 0; s < SITE_COUNT; s++) {
		const struct site_value *v = &sites[s];
		json_t *site = site_json(v->how, v->tally.bytes,
					 integer_if(calls && site_calls_known(s, v->how), v->tally.calls));

		put(site, "why", text_or_null(v->why));
		put(o, site_name(s), site);
	}
	return o;
}

json_t *counts_json(uint64_t known, const unsigned long long count[COUNT_COUNT])
{
	json_t *o = json_object();

	for (enum count c = 0; c < COUNT_COUNT; c++)
		put(o, count_name(c), integer_if(known >> c & 1, count[c]));
	return o;
}

void put_books(json_t *o, const struct books *b, const enum how how[SITE_COUNT], uint64_t counts_known, bool calls)
{
	json_t *sites = json_object();

	for (enum site s = 0; s < SITE_COUNT; s++)
		put(sites, site_name(s), site_json(how[s], b->site[s].bytes, !calls ? NULL :
			integer_if(site_calls_known(s, how[s]), b->site[s].calls)));
	put(o, "sites", sites);
	put(o, "counts", counts_json(counts_known, b->count));
}

json_t *cause_json(const struct cause *c)
{
	json_t *o = json_pack("{s:s, s:s}", "cause", c->name, "site", site_name(c->site));

	put(o, "bytes", integer_if(c->bytes_known, c->tally.bytes));
	put(o, "calls", json_integer(c->tally.calls));
	return o;
}

json_t *causes_json(const struct cause *causes, int count)
{
	json_t *array = json_array();

	for (int i = 0; i < count; i++) {
		const struct cause *c = &causes[i];
		json_t *o = cause_json(c);

		put(o, "remedy", text(c->remedy));
		put(o, "stack", text_or_null(c->stack));
		put(o, "why", text_or_null(c->why));
		json_array_append_new(array, o);
	}
	return array;
}

void put_sides(json_t *law, bool known, int64_t left, int64_t right, int64_t residual, const char *why)
{
	put(law, "left", integer_if(known, left));
	put(law, "right", integer_if(known, right));
	put(law, "residual", integer_if(known, residual));
	put(law, "why", text_or_null(why));
}

json_t *laws_json(const struct measured *m)
{
	json_t *array = json_array();

	for (int i = 0; i < m->law_count; i++) {
		const struct law *l = &m->laws[i];
		json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "law", l->name, "left_is", l->left_is,
				      "right_is", l->right_is, "status", law_status_name(l->status));

		put_sides(o, l->known, l->left, l->right, l->residual, l->why);
		json_array_append_new(array, o);
	}
	return array;
}

int json_write(json_t *o, FILE *out)
{
	int err = 0;

	errno = EIO;
	if (json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)))
		err = -errno;
	json_decref(o);
	if (!err && (fputc('\n', out) == EOF || fflush(out)))
		err = -errno;
	return err;
}

int json_write_line(json_t *o, FILE *out)
{
	char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
	int err = !line ? -ENOMEM : fprintf(out, "%s\n", line) < 0 || fflush(out) ? -errno : 0;

	free(line);
	json_decref(o);
	return err;
}
