// SPDX-License-Identifier: GPL-2.0
/* Prints every table of names as JSON: tools/make_tables makes documents and tools from it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/include/sites.h"
#include "userspace/engine/hooks.h"
#include "userspace/judge/laws.h"
#include "userspace/record/experiment.h"
#include "userspace/record/watch_record.h"
#include "userspace/tables/behaviours.h"
#include "userspace/tables/callers.h"
#include "userspace/tables/causes.h"
#include "userspace/tables/cpu_classes.h"
#include "userspace/tables/paths.h"
#include "userspace/tables/receivers.h"
#include "userspace/tables/release.h"
#include "userspace/tables/variants.h"

static json_t *sites(void)
{
	json_t *rows = json_array();

#define ROW(name_, traits, who, meaning)                                                       \
	json_array_append_new(rows, json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:s, s:s}", \
		"name", #name_, "copies", (traits) & SITE_COPIES,                              \
		"of_tls", (traits) & SITE_OF_TLS, "transforms", (traits) & SITE_TRANSFORMS,                              \
		"of_sender", (traits) & SITE_OF_SENDER, "of_receiver", (traits) & SITE_OF_RECEIVER, \
		"of_call", (traits) & SITE_OF_CALL, "who", who, "meaning", meaning));
	SITES(ROW)
#undef ROW
	return rows;
}

static void add(json_t *rows, const char *name, const char *meaning)
{
	json_array_append_new(rows, json_pack("{s:s, s:s}", "name", name, "meaning", meaning));
}

static json_t *counts(void)
{
	json_t *rows = json_array();

#define ROW(name, meaning) add(rows, #name, meaning);
	COUNTS(ROW)
#undef ROW
	return rows;
}

static json_t *balances(void)
{
	json_t *rows = json_array();

#define ROW(name, meaning) add(rows, #name, meaning);
	WATCH_BALANCES(ROW)
#undef ROW
	return rows;
}

static json_t *cpu_classes(void)
{
	json_t *rows = json_array();

#define ROW(symbol, key, meaning, copies) add(rows, key, meaning);
	CPU_CLASSES(ROW)
#undef ROW
	return rows;
}

static json_t *cpu_user_kinds(void)
{
	json_t *rows = json_array();

#define ROW(symbol, key, meaning) add(rows, key, meaning);
	CPU_USER_KINDS(ROW)
#undef ROW
	return rows;
}

static json_t *call_ways(void)
{
	json_t *rows = json_array();

#define ROW(symbol, direction, key, meaning) add(rows, direction " " key, meaning);
	CALL_WAYS(ROW)
#undef ROW
	return rows;
}

static json_t *watch_verdicts(void)
{
	json_t *rows = json_array();

#define ROW(symbol, name, meaning) add(rows, name, meaning);
	WATCH_VERDICTS(ROW)
#undef ROW
	return rows;
}

static json_t *causes(void)
{
	json_t *rows = json_array();

#define ROW(symbol, name_, place, remedy)                                                      \
	json_array_append_new(rows, json_pack("{s:s, s:b, s:s}", "name", name_,                \
					      "on_arrival", (place) == CAUSE_ON_ARRIVAL,       \
					      "remedy", remedy));
	CAUSES(ROW)
#undef ROW
	return rows;
}

static json_t *cause_commits(void)
{
	static const char *const names[] = {
#define NAME(symbol, name, ...) name,
		CAUSES(NAME)
#undef NAME
	};
	json_t *rows = json_array();

#define ROW(symbol, commit, title, release, effect)                                                      \
	json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", names[CAUSE_##symbol], \
					      "commit", commit, "title", title, "release", release,      \
					      "effect", effect));
	CAUSE_COMMITS(ROW)
#undef ROW
	return rows;
}

/* What tells causes, for documents: callers of a copy, and the rest in words. */
static json_t *tellers(void)
{
	static const char *const names[] = {
#define NAME(symbol, name, ...) name,
		CAUSES(NAME)
#undef NAME
		"",
	};
	enum { CAUSE_ARRIVAL = CAUSE_COUNT };
	json_t *rows = json_array();

#define ROW(function, cause, where) \
	json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "cause", names[CAUSE_##cause], "site", #where, \
					      "caller", function));
	CALLERS(ROW)
#undef ROW
#define ROW(cause, site, words) \
	json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "cause", names[CAUSE_##cause], "site", #site, \
					      "words", words));
	TOLD_OTHERWISE(ROW)
#undef ROW
	return rows;
}

static json_t *variants(void)
{
	json_t *rows = json_array();

	for (int i = 0; i < VARIANT_COUNT; i++) {
		const struct table_row *row = &variant_rows[i];
		bool references = traits_reference(row->traits);

		json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:s}", "name", row->name,
			"call", variant_call(row->name), "references", references,
			"splices", row->traits & VARIANT_SPLICES, "tls", row->traits & VARIANT_TLS,
			"datagrams", row->traits & VARIANT_DATAGRAMS,
			"reads_completions", references && !(row->traits & VARIANT_UNREAPED),
			"overwrites", row->traits & VARIANT_OVERWRITES, "meaning", row->meaning));
	}
	return rows;
}

static json_t *receivers(void)
{
	json_t *rows = json_array();

	for (int i = 0; i < RECEIVER_COUNT; i++)
		json_array_append_new(rows, json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:s}", "name", receiver_rows[i].name,
			"blind", receiver_rows[i].traits & RECEIVER_BLIND,
			"peeks", receiver_rows[i].traits & RECEIVER_PEEKS,
			"splices", receiver_rows[i].traits & RECEIVER_SPLICES,
			"maps", receiver_rows[i].traits & RECEIVER_MAPS,
			"tls", receiver_rows[i].traits & RECEIVER_TLS, "meaning", receiver_rows[i].meaning));
	return rows;
}

static json_t *behaviours(void)
{
	json_t *rows = json_array();

	for (int i = 0; i < BEHAVIOUR_COUNT; i++) {
		const struct table_row *row = &behaviour_rows[i];

		json_array_append_new(rows, json_pack("{s:s, s:b, s:b, s:s}", "name", row->name,
			"of_receiver", row->traits & BEHAVIOUR_OF_RECEIVER,
			"zerocopy", row->traits & BEHAVIOUR_ZEROCOPY, "meaning", row->meaning));
	}
	return rows;
}

static json_t *paths(void)
{
	json_t *rows = json_array();

	for (int i = 0; i < PATH_COUNT; i++) {
		const struct table_row *row = &path_rows[i];

		json_array_append_new(rows, json_pack("{s:s, s:b, s:b, s:s}", "name", row->name,
			"nics", row->traits & PATH_NICS, "two_hosts", row->traits & PATH_TWO_HOSTS,
			"meaning", row->meaning));
	}
	return rows;
}

static json_t *laws(void)
{
	json_t *rows = json_array();

	for (enum law_id id = 0; id < LAW_COUNT; id++) {
		const struct law_row row = law_row(id);

		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b}", "name", row.name,
			"left_is", row.left_is, "right_is", row.right_is, "scope", law_scope_name(row.scope),
			"of_runs", row.traits & LAW_IN_RUNS, "of_sockets", row.in_watches,
			"of_tls", row.traits & LAW_OF_TLS));
	}
	return rows;
}

/* What the hooks feed: sites, and books that are no site. */
static json_t *metrics(void)
{
	json_t *names = json_object(), *rows = json_array();
	const char *name;
	json_t *unused;

#define NAME(site, ...) json_object_set_new(names, #site, json_null());
	SITES(NAME)
#undef NAME
	for (const struct hook *hook = hooks; hook->program; hook++)
		json_object_set_new(names, hook->metric, json_null());
	json_object_foreach(names, name, unused)
		json_array_append_new(rows, json_string(name));
	json_decref(names);
	return rows;
}

static const struct hook_form *form_of(const struct hook *hook)
{
	const struct hook_form *form = hook_forms;

	while (form->target && (strcmp(form->target, hook->target) || form->args != hook->args))
		form++;
	return form;
}

static json_t *all_hooks(void)
{
	json_t *rows = json_array();

	for (const struct hook *hook = hooks; hook->program; hook++) {
		const struct hook_form *form = form_of(hook);

		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:i, s:b, s:b, s:b, s:b, s:b, s:s, s:s}",
			"metric", hook->metric, "kind", hook_kind_name(hook->kind), "target", hook->target,
			"args", hook->args, "without_trampolines", hook->without_trampolines,
			"of_tls", hook->sets == HOOKS_TLS, "of_sizes", hook->sets == HOOKS_SIZES,
			"of_watches", !(hook->sets & ~(HOOKS_WATCH | HOOKS_SYSCALLS)), "of_datagrams", !(hook->sets & ~(HOOKS_DATAGRAMS | HOOKS_QUEUES | HOOKS_BIRTHS | HOOKS_SHARED)),
			"since", form->target ? form->since : "", "until", form->target ? form->until : ""));
	}
	return rows;
}

static json_t *layers(void)
{
	json_t *rows = json_array();

#define ROW(symbol, key, name) add(rows, key, name);
	WATCH_LAYERS(ROW)
#undef ROW
	return rows;
}

static json_t *limit(const char *name, int most)
{
	return json_pack("{s:s, s:i}", "name", name, "most", most);
}

static json_t *limits(void)
{
	return json_pack("[o, o, o, o, o]", limit("peers", WATCH_PEERS_MAX), limit("ports", WATCH_LOCAL_PORTS_MAX),
			 limit("rows", WATCH_ROWS_MAX), limit("datagram_bytes", DATAGRAM_BYTES_MAX),
			 limit("datagrams_of_send", DATAGRAMS_OF_SEND_MAX));
}

static json_t *packet_probes(void)
{
#define ROW(name) json_pack("{s:s}", "name", #name),
	json_t *const rows[] = { WATCH_PACKET_PROBES(ROW) };
#undef ROW
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_array_append_new(all, rows[i]);
	return all;
}

int main(void)
{
	json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				"release", COPYSCOPE_RELEASE, "sites", sites(), "counts", counts(),
				"causes", causes(), "tellers", tellers(), "variants", variants(),
				"receivers", receivers(), "behaviours", behaviours(), "paths", paths(), "laws", laws(),
				"balances", balances(), "layers", layers(), "cpu_classes", cpu_classes(),
				"cpu_user_kinds", cpu_user_kinds(), "call_ways", call_ways(),
				"watch_verdicts", watch_verdicts(), "limits", limits(),
				"packet_probes", packet_probes(), "metrics", metrics(),
				"hooks", all_hooks());
	int err = !all || json_object_set_new(all, "cause_commits", cause_commits()) ||
		  json_dumpf(all, stdout, JSON_INDENT(1)) || puts("") < 0;

	json_decref(all);
	return err;
}
