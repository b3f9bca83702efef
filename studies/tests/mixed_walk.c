// SPDX-License-Identifier: GPL-2.0
/* Sorts, copies and follows pointers: memory accesses of many kinds, the same in each run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 3000, CYCLE = 1 << 14, STEPS = 60000, COPY_BYTES = 48 << 10, COPIES = 6 };

/* Together more than an L1d, in few instructions: lackey writes each of them by itself. */
struct record {
	uint32_t key;
	uint32_t rest[3];
};

struct step {
	uint32_t next;
	uint32_t rest[7];
};

static uint32_t state = 1;

static uint32_t next_random(void)
{
	state = state * 1103515245 + 12345;
	return state >> 8;
}

static int compare(const void *a, const void *b)
{
	uint32_t left = ((const struct record *)a)->key, right = ((const struct record *)b)->key;

	return (left > right) - (left < right);
}

static uint32_t sort(void)
{
	struct record *records = calloc(RECORDS, sizeof(*records));
	uint32_t middle;

	for (int i = 0; i < RECORDS; i++)
		records[i].key = next_random();
	qsort(records, RECORDS, sizeof(*records), compare);
	middle = records[RECORDS / 2].key;
	free(records);
	return middle;
}

static uint32_t follow(void)
{
	struct step *steps = calloc(CYCLE, sizeof(*steps));
	uint32_t at = 0;

	for (uint32_t i = 0; i < CYCLE; i++)
		steps[i].next = i;
	for (uint32_t i = CYCLE - 1; i; i--) {
		uint32_t with = next_random() % i, was = steps[i].next;

		steps[i].next = steps[with].next;
		steps[with].next = was;
	}
	for (int i = 0; i < STEPS; i++)
		at = steps[at].next;
	free(steps);
	return at;
}

static uint32_t copy(void)
{
	char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
	uint32_t last;

	memset(from, 7, COPY_BYTES);
	for (int i = 0; i < COPIES; i++) {
		memcpy(to, from, COPY_BYTES);
		from[i] = to[COPY_BYTES - 1 - i] + 1;
	}
	last = to[COPY_BYTES - 1];
	free(from);
	free(to);
	return last;
}

int main(void)
{
	return (sort() ^ follow() ^ copy()) == 0;
}
