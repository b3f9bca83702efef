/* SPDX-License-Identifier: GPL-2.0 */
/* Looks for what disturbs measurements: neighbours, limits, little memory. */
#ifndef COPYSCOPE_BASELINE_INTERFERENCE_H
#define COPYSCOPE_BASELINE_INTERFERENCE_H

#include "studies/baseline/machine/machine_info.h"
#include "studies/baseline/machine/warnings.h"

/* To be called before anything is measured. */
void interference_look(const struct machine_info *m, struct warnings *warnings);

/* Share of all CPU time that the hypervisor gave to others since the last call; NAN: not told. */
double interference_stolen(void);

#endif
