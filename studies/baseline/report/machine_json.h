/* SPDX-License-Identifier: GPL-2.0 */
/* The machine description as JSON. */
#ifndef COPYSCOPE_BASELINE_MACHINE_JSON_H
#define COPYSCOPE_BASELINE_MACHINE_JSON_H

#include <jansson.h>

#include "studies/baseline/machine/machine_info.h"

/* What a user typed: as it is, or as messages show it if that is no UTF-8, which JSON cannot hold. */
json_t *typed_json(const char *words);

json_t *machine_json(const struct machine_info *m);

#endif
