// SPDX-License-Identifier: GPL-2.0
/* reseed: gives the kernel new random numbers, in a guest that was restored: it would repeat those of others. */
#include <linux/random.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "userspace/common/streams.h"

enum { SEED_BYTES = 64 };

int main(void)
{
	/* As struct rand_pool_info. */
	struct {
		int entropy_bits, size_bytes;
		unsigned char seed[SEED_BYTES];
	} pool = { .entropy_bits = 8 * SEED_BYTES, .size_bytes = SEED_BYTES };
	FILE *random;

	streams_open();
	if (fread(pool.seed, 1, SEED_BYTES, stdin) != SEED_BYTES) {
		fprintf(stderr, "reseed: stdin has fewer than %d bytes\n", SEED_BYTES);
		return 2;
	}
	random = fopen("/dev/urandom", "w");
	/* The kernel takes what is added into use at its next reseeding, up to a minute later: ask for it now. */
	if (!random || ioctl(fileno(random), RNDADDENTROPY, &pool) || ioctl(fileno(random), RNDRESEEDCRNG)) {
		perror("reseed: /dev/urandom");
		return 3;
	}
	return 0;
}
