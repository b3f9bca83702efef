/* SPDX-License-Identifier: GPL-2.0 */
/* Finds why bytes were copied that should have been referenced. Pure. */
#ifndef COPYSCOPE_CAUSES_H
#define COPYSCOPE_CAUSES_H

#include "userspace/record/record.h"

/* Fills r->causes. */
void causes_fill(struct record *r);

#endif
