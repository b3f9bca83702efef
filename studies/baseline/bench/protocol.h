/* SPDX-License-Identifier: GPL-2.0 */
/* How rows are measured, as plain data: what the user asked for, and what this machine allows. */
#ifndef COPYSCOPE_BASELINE_PROTOCOL_H
#define COPYSCOPE_BASELINE_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/baseline/proof/fault_inject.h"

enum { RUNS_MAX = 30, ROUNDS_MAX = 10 };

struct protocol {
	bool quick;
	bool drop_caches;		/* the whole machine's, not only the test's own */
	int runs, rounds;
	double rtt_ms;			/* that is added on the remote path; 0 between NICs */
	char nics[2][16];		/* that join the two ends of the remote path; "" for none */
	uint64_t cache_bytes;		/* of memory, for the row that fills the page cache */
	const char *dir;		/* where files are made, nameless */
	enum injected fault;		/* on purpose; INJECT_NONE unless a test asks for one */
};

#endif
