// SPDX-License-Identifier: GPL-2.0
/* Numbers that follow from a seed, and what random programs draw from them. */
#include "tests/fuzz/program/program.h"

static __thread uint64_t state;

void throw_from(uint64_t seed)
{
	state = seed;
}

/* Xorshift, of G. Marsaglia. */
uint64_t throw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

unsigned below(unsigned n)
{
	return n ? (throw() >> 11) % n : 0;
}

bool one_in(unsigned n)
{
	return below(n) == 0;
}

unsigned some_bytes(void)
{
	/* Around segments, pages, fragments of 32 KiB and what one packet may hold. */
	static const unsigned edges[] = { 1, 2, 7, 64, 100, 999, 1447, 1448, 1449, 1460, 4095, 4096, 4097,
		8192, 9000, 16384, 20000, 32768, 32769, 65483, 65535, 65536, 65537, 100000, 131072, 200000 };

	if (one_in(40))
		return 0;
	if (one_in(40))
		return 1 << 20;
	if (one_in(2))
		return 1 + below(5000);
	return edges[below(sizeof(edges) / sizeof(*edges))];
}

int cut(struct iovec parts[PARTS_MAX], char *from, unsigned bytes)
{
	int count = 1 + below(one_in(8) ? 40 : 6);
	unsigned done = 0;

	for (int k = 0; k < count; k++) {
		unsigned n = k == count - 1 ? bytes - done : below(bytes - done + 1);

		parts[k] = (struct iovec){ from + below(8192) + done % (BUFFER_BYTES / 2), n };
		done += n;
	}
	return count;
}
