/* SPDX-License-Identifier: GPL-2.0 */
/* What the emulator's plugin counted as JSON: "modelled" of a pass. */
#ifndef COPYSCOPE_MODELLED_JSON_H
#define COPYSCOPE_MODELLED_JSON_H

#include <jansson.h>

#include "userspace/model/modelled.h"

/* NULL if nobody asked for a model. */
json_t *modelled_json(const struct modelled *m);

#endif
