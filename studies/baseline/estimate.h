/* SPDX-License-Identifier: GPL-2.0 */
/* What a row should cost on this machine, said before it is measured. */
#ifndef COPYSCOPE_BASELINE_ESTIMATE_H
#define COPYSCOPE_BASELINE_ESTIMATE_H

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/machine.h"

/* prediction = hardware + software, in the row's unit. NAN where nothing can be said. */
struct estimate {
	double hardware, software;
	const char *hardware_basis, *software_basis;
};

struct estimate estimate_row(const char *row, const struct machine_info *m,
			     const struct protocol *protocol);

#endif
