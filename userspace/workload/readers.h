/* SPDX-License-Identifier: GPL-2.0 */
/* Several threads that empty one socket together, without regard to messages. */
#ifndef WORKLOAD_READERS_H
#define WORKLOAD_READERS_H

#include "userspace/workload/run.h"

#define READERS_BUFFER_BYTES (64 << 10)

/*
 * Receives on the worker's connection with --readers threads, this one included, until the peer
 * ends. The bytes that one thread gets lie anywhere in the stream: they are counted, not checked.
 */
enum outcome readers_drain(struct worker *worker);

#endif
