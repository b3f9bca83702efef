// SPDX-License-Identifier: GPL-2.0
/* Sockets, processes and sums of a watch as JSON: null where a number is not known. */
#include "userspace/watch/report/json/parts_json.h"

#include "userspace/common/json/json.h"
#include "userspace/report/json/parts_json.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/summary/figures.h"
#include "userspace/watch/summary/names.h"

/* What may hold any byte is shown as reports show it: JSON has UTF-8 alone. */
static json_t *name_json(void (*name)(const struct watch_address *, char *),
			 const struct watch_address *a)
{
	char shown[WATCH_NAME_BYTES];

	name(a, shown);
	return text(shown);
}

static json_t *comm_json(const char *comm)
{
	char shown[WATCH_NAME_BYTES];

	comm_name(comm, shown);
	return text(shown);
}

static json_t *pid_json(const struct watch_process_id *id)
{
	return integer_if(id->pid, id->pid);
}

static json_t *cgroup_json(const struct watch_record *r, uint64_t cgroup)
{
	char shown[WATCH_NAME_BYTES];

	if (!cgroup)
		return json_null();
	cgroup_name(r, cgroup, shown);
	return text(shown);
}

json_t *watched_sites_json(const struct watch_record *r, const struct watch_movements *m)
{
	json_t *o = json_object();

	for (enum site s = 0; s < SITE_COUNT; s++) {
		enum how how = m->sites_known >> s & 1 ? watch_site_how(r, s) : HOW_NOT_MEASURED;
		json_t *site = json_object();

		put(site, "bytes", integer_if(how != HOW_NOT_MEASURED, m->site_bytes[s]));
		put(site, "how", text(how_name(how)));
		put(o, site_name(s), site);
	}
	return o;
}

json_t *watched_counts_json(const struct watch_movements *m)
{
	json_t *o = json_object();

	for (enum count c = 0; c < COUNT_COUNT; c++)
		put(o, count_name(c), integer_if(m->counts_known >> c & 1, m->count[c]));
	return o;
}

static json_t *balance_json(const struct watch_balance *b)
{
	json_t *o = json_object();

	for (enum watch_balance_item i = 0; i < WATCH_BALANCE_COUNT; i++)
		put(o, watch_balance_name(i), integer_if(b->known >> i & 1, b->item[i]));
	return o;
}

/* What became of the bytes that were to go without a copy, and what was received without one. */
static json_t *fate_json(const struct watch_movements *m)
{
	uint32_t sites = 1u << SITE_tx_reference | 1u << SITE_tx_splice;
	bool known = (m->sites_known & sites) == sites;
	json_t *o = json_object();

	put(o, "uncopied_bytes", integer_if(known, m->fate.uncopied));
	put(o, "copied_later_bytes", integer_if(known, m->fate.later));
	put(o, "unknown_bytes", integer_if(known, m->fate.unknown));
	put(o, "held_bytes", integer_if(known, m->fate.held));
	put(o, "passed_on_bytes", integer_if(!m->passed_unknown, m->passed_bytes));
	return o;
}

static json_t *other_json(const struct watch_sum *sum)
{
	json_t *array = json_array();

	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++) {
		const struct watch_other *other = &sum->other[layer];
		json_t *o;

		if (!other->sockets)
			continue;
		o = json_pack("{s:s}", "layer", watch_layer_key(layer));
		put(o, "sockets", json_integer(other->sockets));
		put(o, "sent_bytes", json_integer(other->sent_bytes));
		put(o, "received_bytes", json_integer(other->received_bytes));
		json_array_append_new(array, o);
	}
	return array;
}

static void put_movements(json_t *o, const struct watch_record *r, const struct watch_balance *opening,
			  const struct watch_balance *closing, const struct watch_movements *moved)
{
	put(o, "opening", balance_json(opening));
	put(o, "closing", balance_json(closing));
	put(o, "sites", watched_sites_json(r, moved));
	put(o, "counts", watched_counts_json(moved));
	put(o, "fate", fate_json(moved));
}

static json_t *watched_causes_json(const struct watch_movements *moved)
{
	struct cause causes[WATCH_CAUSES_MAX];

	return causes_json(causes, watch_causes_of(moved, causes));
}

static json_t *socket_laws_json(const struct watch_socket *s)
{
	json_t *o = json_object();

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++) {
		bool testable = s->laws[l] != LAW_NOT_TESTABLE;
		json_t *law = json_pack("{s:s}", "status", law_status_name(s->laws[l]));

		put(law, "left", testable ? json_integer(s->left[l]) : json_null());
		put(law, "right", testable ? json_integer(s->right[l]) : json_null());
		put(law, "residual", testable ? json_integer(s->residual[l]) : json_null());
		put(law, "why", text_or_null(s->law_why[l]));
		put(o, watch_law_name(l), law);
	}
	return o;
}

void put_watched_name(json_t *o, const struct watch_process_id *id, const char *comm)
{
	put(o, "pid", pid_json(id));
	put(o, "comm", comm_json(comm));
}

json_t *watched_socket_json(const struct watch_record *r, const struct watch_socket *s)
{
	json_t *o = json_object();

	put(o, "cookie", cookie_json(s->cookie));
	put_watched_name(o, &s->owner, s->comm);
	put(o, "cgroup", cgroup_json(r, s->cgroup));
	put(o, "netns", integer_if(s->netns, s->netns));
	put(o, "local", name_json(address_name, &s->local));
	put(o, "remote", name_json(address_name, &s->remote));
	put(o, "layer", text(watch_layer_key(s->layer)));
	put(o, "whole", json_boolean(s->whole));
	put(o, "born", json_boolean(s->born));
	put(o, "died", json_boolean(s->died));
	put(o, "handed_on", json_boolean(s->handed_on));
	put_movements(o, r, &s->opening, &s->closing, &s->moved);
	put(o, "causes", watched_causes_json(&s->moved));
	put(o, "laws", socket_laws_json(s));
	return o;
}

static json_t *figure_json(struct figure f)
{
	return integer_if(f.known, f.bytes);
}

/* A line of a table each, as there may be many. */
json_t *watched_groups_json(const struct watch_groups *groups, enum watch_grouping by)
{
	json_t *array = json_array();

	for (int i = 0; i < groups->count; i++) {
		const struct watch_group *g = &groups->group[i];
		json_t *o = json_object();

		if (by == WATCH_BY_PEER)
			put(o, "peer", g->further ? json_null() : name_json(peer_name, &g->at));
		else
			put(o, "port", integer_if(!g->further, g->at.port));
		put(o, "sockets", json_integer(g->sockets));
		put(o, "other_sockets", json_integer(g->other_sockets));
		put(o, "sent_bytes", figure_json(figure_sent(&g->moved)));
		put(o, "received_bytes", figure_json(figure_received(&g->moved)));
		put(o, "uncopied_bytes", figure_json(figure_uncopied(&g->moved)));
		put(o, "needless_bytes", figure_json(figure_needless(&g->moved)));
		json_array_append_new(array, o);
	}
	return array;
}

json_t *watched_sum_json(const struct watch_record *r, const struct watch_sum *sum)
{
	json_t *o = json_object();

	put(o, "sockets", json_integer(sum->sockets));
	put(o, "born", json_integer(sum->born));
	put(o, "died", json_integer(sum->died));
	put(o, "handed_on", json_integer(sum->handed_on));
	put(o, "other", other_json(sum));
	put_movements(o, r, &sum->opening, &sum->closing, &sum->moved);
	return o;
}

json_t *watched_process_json(const struct watch_record *r, const struct watch_process *p)
{
	json_t *o = json_object();

	put_watched_name(o, &p->id, p->comm);
	put(o, "cgroup", cgroup_json(r, p->cgroup));
	put(o, "joined", json_boolean(p->joined));
	put(o, "ended", json_boolean(p->ended));
	put(o, "sum", watched_sum_json(r, &p->sum));
	put(o, "causes", watched_causes_json(&p->sum.moved));
	return o;
}
