/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a watch fails by what it found: --fail-on. */
#ifndef COPYSCOPE_WATCH_FAIL_ON_H
#define COPYSCOPE_WATCH_FAIL_ON_H

#include <stdbool.h>

#include "userspace/watch/options/options.h"

/* True if it fails by what --fail-on asks for; prints one line for each reason. */
bool fail_on_found(const struct watch_options *o, const struct watch_record *r);

#endif
