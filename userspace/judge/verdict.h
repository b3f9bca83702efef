/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on a run. Pure. */
#ifndef COPYSCOPE_VERDICT_H
#define COPYSCOPE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "userspace/record/record.h"

/* Room for the longest sentence. */
enum { VERDICT_BYTES = 512 };

/* The verdict in one sentence, such as "A3, MSG_ZEROCOPY, on veth copied nothing ...", every digit given. */
void verdict_sentence(const struct record *r, char *text, size_t size);

/* The same for people, who read "65.5 MB", unless the numbers are to be @exact. */
void verdict_told(const struct record *r, bool exact, char *text, size_t size);

#endif
