// SPDX-License-Identifier: GPL-2.0
/* Builds an object for each part of the machine: null for what the kernel does not tell. */
#include "studies/baseline/report/machine_json.h"

#include "studies/baseline/timing/clock.h"
#include "userspace/common/foreign.h"
#include "userspace/common/json/json.h"

json_t *typed_json(const char *words)
{
	json_t *json = json_string(words);

	return json ? json : text(foreign(words));
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

json_t *machine_json(const struct machine_info *m)
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
