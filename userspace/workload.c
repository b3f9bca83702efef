// SPDX-License-Identifier: GPL-2.0
/* workload: a TCP load generator that knows each byte it sends, for copyscope to watch. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "userspace/common/guest_marker.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/ring_offer.h"

#include "userspace/workload/alternation.h"
#include "userspace/workload/run.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/content.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/ways.h"

/* A descriptor per connection: 1,024 of them do not fit into the usual soft limit. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void ask_for_rings(bool server, const struct table_row *row)
{
	struct ring_offer offer = ring_offer_ask();
	const char *lacks = ring_offer_lacks(&offer, row->traits & (server ? VARIANT_ASKS : RECEIVER_MULTISHOT));

	if (!lacks)
		return;
	complain("%s %s needs %s", server ? "variant" : "receiver", row->name, lacks);
	exit(EXIT_REFUSED);
}

/* From now on it needs only sockets, threads, memory and the clock. */
static void confine(bool rings)
{
	int err;

	/* Else jansson opens a file for its random start. */
	json_object_seed(0);
	err = confine_syscalls(rings ? CONFINE_RINGS : CONFINE_WORKLOAD);
	if (err)
		die("cannot limit its own system calls: %s: this kernel lacks seccomp filters",
		    strerror(-err));
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct run run = { .settings = &settings };
	const struct table_row *ring_receiver;
	int code;

	/* Up to 6.13 the kernel names a program that is run by descriptor (fexecve) after its
	 * number. */
	prctl(PR_SET_NAME, "workload");
	streams_open();
	settings_parse(&settings, argc, argv);
	stop_install();
	raise_descriptor_limit();
	content_init();
	if (settings.count_fin)
		connection_break_sequence();
	if (settings.guest_marker && marker_map())
		die("cannot map the page by which it speaks to an emulator");
	if (settings_receive_with(&settings, RECEIVER_SPLICES) && splices_prepare())
		die("cannot open /dev/null");
	for (unsigned int i = 0; i < settings.n_ways; i++)
		if (settings.ways[i]->row->traits & VARIANT_RING)
			ask_for_rings(true, settings.ways[i]->row);
	ring_receiver = settings_receive_with(&settings, RECEIVER_RING);
	if (ring_receiver)
		ask_for_rings(false, ring_receiver);
	if (settings.alternates)
		run.alternation = alternation_create(&settings);
	confine(settings_use_ring(&settings));
	if (settings.role == ROLE_SERVER)
		server_run(&run);
	else
		client_run(&run);
	code = run_exit_code(&run);
	if (report_print(&run)) {
		complain("cannot write the totals to stdout: is its file system full?");
		code = EXIT_RUN_FAILED;
	}
	alternation_destroy(run.alternation);
	run_free(&run);
	return code;
}
