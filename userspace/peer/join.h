/* SPDX-License-Identifier: GPL-2.0 */
/* Joins what two hosts counted into one record, on which the laws are tested. Pure. */
#ifndef COPYSCOPE_JOIN_H
#define COPYSCOPE_JOIN_H

#include "userspace/record/experiment.h"

/*
 * Both halves have their sites filled in. @sender becomes the joined record and takes over what
 * @receiver owns; @receiver, from malloc, stays reachable as record_far(sender). 0, -ENOMEM,
 * or -ERANGE if a sum of both is more than an int64_t holds.
 */
int join_halves(struct record *sender, struct record *receiver);

#endif
