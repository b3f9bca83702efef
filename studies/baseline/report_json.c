// SPDX-License-Identifier: GPL-2.0
/* Builds the JSON of a run: null where a number is not known, and then a reason. */
#include "studies/baseline/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "studies/baseline/bench/clock.h"
#include "studies/baseline/estimate.h"
#include "userspace/common/printable.h"
#include "userspace/common/json.h"

#ifndef COPYSCOPE_VERSION
#define COPYSCOPE_VERSION "unknown"
#endif

static const char *const status_names[] = {
	[NOT_MEASURED] = "not_measured", [VALID] = "valid", [INVALID] = "invalid",
	[UNCHECKED] = "unchecked",
};

/* What a user typed: as it is, or as messages show it if that is no UTF-8, which JSON cannot hold. */
static json_t *typed_json(const char *words)
{
	json_t *json = json_string(words);

	return json ? json : text(printable(words));
}

static json_t *level_json(const struct level *level)
{
	json_t *o = json_object();

	put(o, "from_bytes", json_integer(level->from_bytes));
	put(o, "to_bytes", json_integer(level->to_bytes));
	put(o, "ns", json_real(level->ns));
	return o;
}

/* What latency by working set shows, beside what sysfs tells. */
static json_t *levels_json(const struct machine_info *m)
{
	static const char *const names[LEVELS] = { "l1", "l2", "l3", "memory" };
	json_t *o = json_object();

	for (int i = 0; i < LEVELS; i++)
		put(o, names[i], m->levels.of[i].ns ? level_json(&m->levels.of[i]) : json_null());
	put(o, "why", text(m->levels_why));
	return o;
}

static json_t *caches_json(const struct machine_info *m)
{
	json_t *o = json_object();

	put(o, "l1d_bytes", integer_if(m->l1d_bytes, m->l1d_bytes));
	put(o, "l1i_bytes", integer_if(m->l1i_bytes, m->l1i_bytes));
	put(o, "l2_bytes", integer_if(m->l2_bytes, m->l2_bytes));
	put(o, "l3_bytes", integer_if(m->l3_bytes, m->l3_bytes));
	put(o, "found", levels_json(m));
	return o;
}

static json_t *memory_json(const struct machine_info *m)
{
	json_t *o = json_object();

	put(o, "bytes", json_integer(m->common.memory_bytes));
	put(o, "available_bytes", json_integer(m->available_bytes));
	put(o, "module", text_or_null(m->memory));
	put(o, "channel_peak_gbps", real_if(m->memory_peak_gbps, m->memory_peak_gbps));
	put(o, "why", text(*m->memory ? "" : "the firmware describes no memory module"));
	return o;
}

static json_t *disk_json(const struct machine_info *m)
{
	json_t *o = json_object();

	put(o, "dir", typed_json(m->dir));
	put(o, "file_system", text(m->dir_fs));
	put(o, "device", text(m->disk));
	put(o, "model", text_or_null(m->disk_model));
	put(o, "bus", text(m->disk_bus));
	put(o, "free_bytes", json_integer(m->disk_free_bytes));
	put(o, "read_ahead_kib", integer_if(m->disk_read_ahead_kib >= 0, m->disk_read_ahead_kib));
	put(o, "rotational", integer_if(m->disk_rotational >= 0, m->disk_rotational));
	return o;
}

static json_t *nic_json(const struct machine_info *m)
{
	json_t *o = json_object();

	put(o, "device", text(m->nic));
	put(o, "bus", text(m->nic_bus));
	put(o, "mbit", integer_if(m->nic_mbit >= 0, m->nic_mbit));
	return o;
}

static json_t *machine_json(const struct machine_info *m)
{
	const struct machine *common = &m->common;
	json_t *o = json_object();

	put(o, "kernel", text(common->kernel));
	put(o, "arch", text(common->arch));
	put(o, "cpu_model", text(common->cpu_model));
	put(o, "cpus", json_integer(common->cpus));
	put(o, "virt", text(common->virt));
	put(o, "lockdown", text(common->lockdown));
	put(o, "emulated", json_boolean(common->emulated));
	put(o, "clock_ghz", json_real(m->clock_ghz));
	put(o, "tsc_ghz", real_if(m->tsc_ghz, m->tsc_ghz));
	put(o, "core_clock_ghz", real_if(m->core_ghz, m->core_ghz));
	put(o, "clock", text(clock_name()));
	put(o, "caches", caches_json(m));
	put(o, "memory", memory_json(m));
	put(o, "disk", disk_json(m));
	put(o, "nic", nic_json(m));
	return o;
}

static json_t *number(double value)
{
	return real_if(isfinite(value), value);
}

static json_t *invariant_json(const struct outcome *o, int i)
{
	const struct invariant *invariant = &o->row->invariants[i];
	const struct finding *finding = &o->findings[i];
	bool looked = o->status != NOT_MEASURED && !isnan(finding->counted);
	json_t *json = json_object();

	put(json, "means", text(invariant->means));
	put(json, "counter", text(invariant_counter(invariant)));
	put(json, "relation", text(relation_name(invariant->is)));
	put(json, "expected", number(invariant->per_call * o->counted_calls + invariant->once));
	put(json, "slack", number(invariant->slack));
	put(json, "counted", looked ? number(finding->counted) : json_null());
	put(json, "held", looked ? json_boolean(finding->held) : json_null());
	return json;
}

static json_t *proof_json(const struct outcome *o)
{
	json_t *json = json_object(), *invariants = json_array();

	for (int i = 0; i < ROW_INVARIANTS && o->row->invariants[i].is != NOTHING; i++)
		json_array_append_new(invariants, invariant_json(o, i));
	put(json, "calls", json_integer(o->counted_calls));
	put(json, "invariants", invariants);
	return json;
}

static json_t *values_json(const double *values, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, number(values[i]));
	return list;
}

static json_t *point_json(const struct point *p)
{
	struct spread s = stats_spread(p->values, p->n);
	json_t *json = json_object();

	put(json, "x", json_integer(p->x));
	put(json, "value", number(s.median));
	put(json, "low", number(s.low));
	put(json, "high", number(s.high));
	put(json, "n", json_integer(p->n));
	put(json, "disk_bytes", number(p->disk_bytes));
	return json;
}

static json_t *curve_json(const struct outcome *o)
{
	json_t *json, *points;

	if (!o->point_count || o->status == NOT_MEASURED)
		return json_null();
	json = json_object();
	points = json_array();
	for (int i = 0; i < o->point_count; i++)
		json_array_append_new(points, point_json(&o->points[i]));
	put(json, "x_unit", text(o->row->x_unit));
	put(json, "unit", text(o->row->y_unit ? o->row->y_unit : o->row->unit));
	put(json, "points", points);
	return json;
}

static json_t *measured_json(const struct outcome *o)
{
	const struct spread *s = &o->spread;
	int n = o->runs * o->rounds;
	json_t *json;

	if (o->status != VALID && o->status != UNCHECKED)
		return json_null();
	json = json_object();
	put(json, "value", number(s->median));
	put(json, "low", number(s->low));
	put(json, "high", number(s->high));
	put(json, "interval", text(s->holds_95 ? "95 % interval of the median" : "range of runs"));
	put(json, "mean", number(s->mean));
	put(json, "sd", number(s->sd));
	put(json, "trimmed_mean", number(stats_mean(o->trimmed, n)));
	put(json, "runs_trimmed_mean", number(stats_trimmed_mean(o->values, n)));
	put(json, "runs_trimmed_sd", number(stats_trimmed_sd(o->values, n)));
	put(json, "warm_ups", json_integer(o->row->warm_ups));
	put(json, "runs", json_integer(o->runs));
	put(json, "rounds", json_integer(o->rounds));
	put(json, "calls", json_integer(o->calls));
	put(json, "waited_share", number(o->waited));
	put(json, "values", values_json(o->values, n));
	return json;
}

static json_t *estimate_json(const struct suite *s, const char *row)
{
	struct estimate e = estimate_row(row, &s->machine, &s->settings.protocol);
	json_t *json = json_object();

	put(json, "hardware", number(e.hardware));
	put(json, "hardware_basis", text(e.hardware_basis));
	put(json, "software", number(e.software));
	put(json, "software_basis", text(e.software_basis));
	put(json, "prediction", number(e.hardware + e.software));
	return json;
}

static json_t *row_json(const struct suite *s, const struct outcome *o)
{
	json_t *json = json_object();

	put(json, "row", text(o->row->name));
	put(json, "family", text(o->family->name));
	put(json, "title", text(o->row->title));
	put(json, "unit", text(o->row->unit));
	put(json, "in_summary", json_boolean(!o->row->extra));
	put(json, "status", text(status_names[o->status]));
	put(json, "why", text_or_null(o->why));
	put(json, "how", text_or_null(o->how));
	put(json, "estimate", estimate_json(s, o->row->name));
	put(json, "measured", measured_json(o));
	put(json, "curve", curve_json(o));
	put(json, "seconds", number(o->seconds));
	put(json, "proof", proof_json(o));
	return json;
}

static json_t *command_json(char **command)
{
	json_t *words = json_array();

	/* Not the path of the program: records are published. */
	json_array_append_new(words, typed_json(program_invocation_short_name));
	for (char **word = command + 1; *word; word++)
		json_array_append_new(words, typed_json(*word));
	return words;
}

static json_t *protocol_json(const struct suite *s)
{
	const struct protocol *p = &s->settings.protocol;
	json_t *json = json_object();

	put(json, "mode", text(p->quick ? "quick" : "full"));
	put(json, "runs", json_integer(p->runs));
	put(json, "rounds", json_integer(p->rounds));
	put(json, "rtt_ms", json_real(p->rtt_ms));
	put(json, "drop_caches", json_boolean(p->drop_caches));
	put(json, "seconds", number(s->seconds));
	return json;
}

static json_t *suite_json(const struct suite *s)
{
	json_t *json = json_object(), *rows = json_array(), *warnings = json_array();
	char started[32];
	struct tm utc;

	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&s->started, &utc));
	for (int i = 0; i < s->warnings.count; i++)
		json_array_append_new(warnings, text(s->warnings.sentence[i]));
	for (int i = 0; i < s->row_count; i++)
		json_array_append_new(rows, row_json(s, &s->rows[i]));
	put(json, "schema", text("copyscope.baseline/1"));
	put(json, "id", text(s->id));
	put(json, "started", text(started));
	put(json, "command", command_json(s->command));
	put(json, "tool", json_pack("{s:s, s:s}", "version", "1", "commit", COPYSCOPE_VERSION));
	put(json, "machine", machine_json(&s->machine));
	put(json, "protocol", protocol_json(s));
	put(json, "warnings", warnings);
	put(json, "rows", rows);
	return json;
}

int suite_json_write(const struct suite *s, FILE *out)
{
	json_t *json = suite_json(s);
	int err = 0;

	errno = EIO;
	if (json_dumpf(json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) ||
	    fputc('\n', out) == EOF || fflush(out))
		err = -errno;
	json_decref(json);
	return err;
}
