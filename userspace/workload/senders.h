/* SPDX-License-Identifier: GPL-2.0 */
/* Several threads that send on one socket together. */
#ifndef WORKLOAD_SENDERS_H
#define WORKLOAD_SENDERS_H

#include "userspace/workload/run.h"
#include "userspace/workload/sender.h"

/* Sends on the worker's connection with --senders threads, this one with @first included, until its limit. The bytes of
 * their messages may lie between each other. */
enum outcome senders_serve(struct worker *worker, struct sender *first);

#endif
