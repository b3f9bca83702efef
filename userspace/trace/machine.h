/* SPDX-License-Identifier: GPL-2.0 */
/* What machine is this, and what does its kernel allow? */
#ifndef COPYSCOPE_MACHINE_H
#define COPYSCOPE_MACHINE_H

#include "userspace/trace/record.h"

void machine_read(struct machine *m);

#endif
