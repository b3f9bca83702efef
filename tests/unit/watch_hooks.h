/* SPDX-License-Identifier: GPL-2.0 */
/* What is hooked where a unit test of a watch's books leaves nothing off. */
#ifndef TESTS_WATCH_HOOKS_H
#define TESTS_WATCH_HOOKS_H

#include "userspace/watch/books/books_fate.h"

static const struct watch_hooked all_hooks = {
	.sends = true, .rx_copies = true, .discards = true, .completions = true,
	.packets = true, .devices = true, .no_onward = true, .no_orphans = true,
};

#endif
