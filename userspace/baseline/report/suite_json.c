// SPDX-License-Identifier: GPL-2.0
/* Builds the JSON of a run: null where a number is not known, and then a reason. */
#include "userspace/baseline/report/suite_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "userspace/baseline/estimate.h"
#include "userspace/baseline/timing/clock.h"

#ifndef COPYSCOPE_VERSION
#define COPYSCOPE_VERSION "unknown"
#endif

static const char *const status_names[] = {
	[NOT_MEASURED] = "not_measured", [VALID] = "valid", [INVALID] = "invalid",
	[UNCHECKED] = "unchecked",
};

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *bytes_or_null(uint64_t bytes)
{
	return bytes ? json_integer(bytes) : json_null();
}

static json_t *from_or_null(int value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

static json_t *machine_json(const struct machine_info *m)
{
	const struct machine *c = &m->common;
	json_t *caches = json_pack("{s:o, s:o, s:o, s:o}", "l1d_bytes", bytes_or_null(m->l1d_bytes),
				   "l1i_bytes", bytes_or_null(m->l1i_bytes), "l2_bytes",
				   bytes_or_null(m->l2_bytes), "l3_bytes", bytes_or_null(m->l3_bytes));
	json_t *memory = json_pack("{s:I, s:I, s:o, s:o, s:s}", "bytes",
				   (json_int_t)c->memory_bytes, "available_bytes",
				   (json_int_t)m->available_bytes, "module", text_or_null(m->memory),
				   "channel_peak_gbps",
				   m->memory_peak_gbps ? number(m->memory_peak_gbps) : json_null(),
				   "why", *m->memory ? "" : "the firmware describes no memory module");
	json_t *disk = json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:o, s:o}", "dir", m->dir,
				 "file_system", m->dir_fs, "device", m->disk, "model",
				 text_or_null(m->disk_model), "bus", m->disk_bus, "free_bytes",
				 (json_int_t)m->disk_free_bytes, "read_ahead_kib",
				 from_or_null(m->disk_read_ahead_kib), "rotational",
				 from_or_null(m->disk_rotational));
	json_t *nic = json_pack("{s:s, s:s, s:o}", "device", m->nic, "bus", m->nic_bus, "mbit",
				from_or_null(m->nic_mbit));

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:f, s:f, s:s, s:o, s:o, s:o, s:o}",
			 "kernel", c->kernel, "arch", c->arch, "cpu_model", c->cpu_model, "cpus",
			 c->cpus, "virt", c->virt, "lockdown", c->lockdown, "emulated", c->emulated,
			 "clock_ghz", m->clock_ghz, "core_ghz", m->core_ghz, "clock", clock_name(),
			 "caches", caches, "memory", memory, "disk", disk, "nic", nic);
}

static json_t *invariants_json(const struct outcome *o)
{
	json_t *list = json_array();

	for (int i = 0; i < ROW_INVARIANTS && o->row->invariants[i].is != NOTHING; i++) {
		const struct invariant *each = &o->row->invariants[i];
		const struct finding *f = &o->findings[i];
		bool looked = o->status != NOT_MEASURED && !isnan(f->counted);

		json_array_append_new(list, json_pack(
			"{s:s, s:s, s:s, s:f, s:f, s:o, s:o}", "means", each->means, "counter",
			invariant_counter(each), "relation", relation_name(each->is), "expected",
			each->per_call * o->counted_calls + each->once, "slack", each->slack,
			"counted", looked ? number(f->counted) : json_null(), "held",
			looked ? json_boolean(f->held) : json_null()));
	}
	return list;
}

static json_t *values_json(const double *values, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, number(values[i]));
	return list;
}

static json_t *curve_json(const struct outcome *o)
{
	json_t *points = json_array();

	if (!o->point_count || o->status == NOT_MEASURED)
		return json_null();
	for (int i = 0; i < o->point_count; i++) {
		const struct point *p = &o->points[i];
		struct spread s = stats_spread(p->values, p->n);

		json_array_append_new(points, json_pack(
			"{s:I, s:o, s:o, s:o, s:i, s:o}", "x", (json_int_t)p->x, "value",
			number(s.median), "low", number(s.low), "high", number(s.high), "n", p->n,
			"disk_bytes", number(p->disk_bytes)));
	}
	return json_pack("{s:s, s:s, s:o}", "x_unit", o->row->x_unit, "unit",
			 o->row->y_unit ? o->row->y_unit : o->row->unit, "points", points);
}

static json_t *measured_json(const struct outcome *o)
{
	const struct spread *s = &o->spread;
	int n = o->runs * o->rounds;

	if (o->status != VALID && o->status != UNCHECKED)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:i, s:i, s:I, s:o, s:o}", "value",
			 number(s->median), "low", number(s->low), "high", number(s->high),
			 "interval", s->holds_95 ? "95 % interval of the median" : "range of runs",
			 "mean", number(s->mean), "sd", number(s->sd), "trimmed_mean",
			 number(stats_mean(o->trimmed, n)), "runs", o->runs, "rounds", o->rounds,
			 "calls", (json_int_t)o->calls, "waited_share", number(o->waited), "values",
			 values_json(o->values, n));
}

static json_t *estimate_json(const struct estimate *e)
{
	return json_pack("{s:o, s:s, s:o, s:s, s:o}", "hardware", number(e->hardware),
			 "hardware_basis", e->hardware_basis, "software", number(e->software),
			 "software_basis", e->software_basis, "prediction",
			 number(e->hardware + e->software));
}

static json_t *row_json(const struct outcome *o, const struct suite *s)
{
	struct estimate e = estimate_row(o->row->name, &s->machine, &s->settings.protocol);

	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:{s:I, s:o}}",
			 "row", o->row->name, "family", o->family->name, "title", o->row->title,
			 "unit", o->row->unit, "in_summary", !o->row->extra, "status",
			 status_names[o->status], "why", text_or_null(o->why), "how",
			 text_or_null(o->how), "estimate", estimate_json(&e), "measured",
			 measured_json(o), "curve", curve_json(o), "seconds", o->seconds, "proof", "calls",
			 (json_int_t)o->counted_calls, "invariants", invariants_json(o));
}

static json_t *suite_json(const struct suite *s)
{
	json_t *rows = json_array(), *warnings = json_array(), *command = json_array();
	const struct protocol *p = &s->settings.protocol;
	char started[32];
	struct tm utc;

	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&s->started, &utc));
	/* Where the tree lies on this machine is nobody's business. */
	json_array_append_new(command, json_string(program_invocation_short_name));
	for (char **word = s->command + 1; *word; word++)
		json_array_append_new(command, json_string(*word));
	for (int i = 0; i < s->warnings.count; i++)
		json_array_append_new(warnings, json_string(s->warnings.sentence[i]));
	for (int i = 0; i < s->row_count; i++)
		json_array_append_new(rows, row_json(&s->rows[i], s));
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:s}, s:o, s:{s:s, s:i, s:i, s:f, s:b, s:f}, "
			 "s:o, s:o}", "schema", "copyscope.baseline/1", "id", s->id, "started",
			 started, "command", command, "tool", "version", "1", "commit",
			 COPYSCOPE_VERSION, "machine", machine_json(&s->machine), "protocol", "mode",
			 p->quick ? "quick" : "full", "runs", p->runs, "rounds",
			 p->rounds, "rtt_ms", p->rtt_ms, "drop_caches",
			 p->drop_caches, "seconds", s->seconds, "warnings", warnings, "rows",
			 rows);
}

int suite_json_write(const struct suite *s, FILE *out)
{
	json_t *json = suite_json(s);
	int err = 0;

	if (!json)
		return -ENOMEM;
	errno = EIO;
	if (json_dumpf(json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) ||
	    fputc('\n', out) == EOF || fflush(out))
		err = -errno;
	json_decref(json);
	return err;
}
