// SPDX-License-Identifier: GPL-2.0
/* Prints a run of the suite as JSON: null where a number is not known, and then a reason. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "userspace/baseline/clock.h"
#include "userspace/baseline/families.h"
#include "userspace/baseline/suite.h"

#ifndef COPYSCOPE_VERSION
#define COPYSCOPE_VERSION "unknown"
#endif

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

static json_t *machine_json(const struct facts *f)
{
	const struct machine *m = &f->machine;
	json_t *caches = json_pack("{s:o, s:o, s:o, s:o}", "l1d_bytes", bytes_or_null(f->l1d_bytes),
				   "l1i_bytes", bytes_or_null(f->l1i_bytes), "l2_bytes",
				   bytes_or_null(f->l2_bytes), "l3_bytes", bytes_or_null(f->l3_bytes));
	json_t *memory = json_pack("{s:I, s:I, s:o, s:o, s:s}", "bytes",
				   (json_int_t)m->memory_bytes, "available_bytes",
				   (json_int_t)f->available_bytes, "module", text_or_null(f->memory),
				   "channel_peak_gbps",
				   f->memory_peak_gbps ? number(f->memory_peak_gbps) : json_null(),
				   "why", *f->memory ? "" : "the firmware describes no memory module");
	json_t *disk = json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:o, s:o}", "dir", f->dir,
				 "file_system", f->dir_fs, "device", f->disk, "model",
				 text_or_null(f->disk_model), "bus", f->disk_bus, "free_bytes",
				 (json_int_t)f->disk_free_bytes, "read_ahead_kib",
				 from_or_null(f->disk_read_ahead_kib), "rotational",
				 from_or_null(f->disk_rotational));
	json_t *nic = json_pack("{s:s, s:s, s:o}", "device", f->nic, "bus", f->nic_bus, "mbit",
				from_or_null(f->nic_mbit));

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:f, s:f, s:s, s:o, s:o, s:o, s:o}",
			 "kernel", m->kernel, "arch", m->arch, "cpu_model", m->cpu_model, "cpus",
			 m->cpus, "virt", m->virt, "lockdown", m->lockdown, "emulated", m->emulated,
			 "clock_ghz", f->clock_ghz, "core_ghz", f->core_ghz, "clock", clock_name(),
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

static json_t *row_json(const struct outcome *o, const struct facts *f)
{
	struct estimate e = estimate_row(o->row->name, f);

	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:{s:I, s:o}}",
			 "row", o->row->name, "family", o->family->name, "title", o->row->title,
			 "unit", o->row->unit, "in_summary", !o->row->extra, "status",
			 status_name(o->status), "why", text_or_null(o->why), "how",
			 text_or_null(o->how), "estimate", estimate_json(&e), "measured",
			 measured_json(o), "curve", curve_json(o), "seconds", o->seconds, "proof", "calls",
			 (json_int_t)o->counted_calls, "invariants", invariants_json(o));
}

static json_t *suite_json(const struct suite *s)
{
	json_t *rows = json_array(), *warnings = json_array(), *command = json_array();
	char started[32];
	struct tm utc;

	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&s->started, &utc));
	/* Where the tree lies on this machine is nobody's business. */
	json_array_append_new(command, json_string(program_invocation_short_name));
	for (char **word = s->command + 1; *word; word++)
		json_array_append_new(command, json_string(*word));
	for (int i = 0; i < s->facts.warning_count; i++)
		json_array_append_new(warnings, json_string(s->facts.warnings[i]));
	for (int i = 0; i < s->row_count; i++)
		json_array_append_new(rows, row_json(&s->rows[i], &s->facts));
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:s}, s:o, s:{s:s, s:i, s:i, s:f, s:b, s:f}, "
			 "s:o, s:o}", "schema", "copyscope.baseline/1", "id", s->id, "started",
			 started, "command", command, "tool", "version", "1", "commit",
			 COPYSCOPE_VERSION, "machine", machine_json(&s->facts), "protocol", "mode",
			 s->settings.quick ? "quick" : "full", "runs", s->settings.runs, "rounds",
			 s->settings.rounds, "rtt_ms", s->settings.rtt_ms, "drop_caches",
			 s->settings.drop_caches, "seconds", s->seconds, "warnings", warnings, "rows",
			 rows);
}

int suite_write(const struct suite *s, FILE *out)
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
