/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on a run. Pure. */
#ifndef COPYSCOPE_VERDICT_H
#define COPYSCOPE_VERDICT_H

#include <stddef.h>

#include "userspace/record/record.h"

/*
 * The verdict in one sentence, such as "A3 on veth copied every byte after all: ...".
 * @size of 400 is enough.
 */
void verdict_sentence(const struct record *r, char *text, size_t size);

#endif
