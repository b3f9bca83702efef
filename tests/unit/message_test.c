// SPDX-License-Identifier: GPL-2.0
/* No accident of its address makes copying to a message's memory dear. */
#include <stdint.h>

#include "tests/unit/unit.h"
#include "userspace/workload/stream/message.h"

enum { LINE_BYTES = 64 };

static void assert_begins_a_line(const void *memory)
{
	assert_non_null(memory);
	assert_int_equal((uintptr_t)memory % LINE_BYTES, 0);
}

TEST(memory_begins_with_a_cache_line_whatever_its_size)
{
	/* malloc() maps those from 128 KiB on: 16 bytes behind the boundary of a page. */
	static const size_t sizes[] = { 8, 4096, 65536, 128 << 10, 256 << 10, 1 << 20, 8 << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct message message;

		assert_int_equal(message_alloc_staged(&message, sizes[i]), 0);
		for (int field = 0; field < message.n_fields; field++)
			assert_begins_a_line(message.field[field].iov_base);
		assert_begins_a_line(message.staging);
		assert_int_equal(message_replace(&message), 0);
		assert_begins_a_line(message.field[0].iov_base);
		assert_begins_a_line(message.staging);
		message_free(&message);
	}
}
