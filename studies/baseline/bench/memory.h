/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for working sets, and well-known loops that read, write or copy it. */
#ifndef COPYSCOPE_BASELINE_MEMORY_H
#define COPYSCOPE_BASELINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/baseline/bench/bench.h"

/* NULL and errno if there is none. */
void *ram_get(uint64_t bytes);
void ram_free(void *at, uint64_t bytes);

/*
 * Two arrays of 64-bit words, one of ones and one of zeros. The sum of what was read is then the
 * number of words read, and each word that was written is not zero any more.
 */
struct arrays {
	char *from, *to;
	uint64_t bytes;
};

/* NULL and errno if there is no memory; free takes NULL. */
struct arrays *arrays_new(uint64_t bytes);
void arrays_free(struct arrays *a);

/* How much of the mapping that begins at @at lies in huge pages. */
double ram_huge_bytes(const void *at);

/* How much of it is mapped to pages. */
double ram_mapped_bytes(const void *at);

/* Large enough that no cache holds it, small enough for this machine; 0 if it has too little. */
uint64_t ram_large_bytes(const struct machine_info *m);

/* The largest cache that the kernel tells of. */
uint64_t ram_told_bytes(const struct machine_info *m);

/* The largest working set of a curve, which shows where even the largest cache ends. */
uint64_t ram_curve_bytes(const struct machine_info *m);

/*
 * Well-known loops, each in the instructions that it is named after: name in its row, title, function,
 * whether this processor has it, what it lacks otherwise
 */
#define PORTABLE_LOOPS(X)    \
	X("read-plain", "read, 64-bit loads", read_plain, always, "") \
	X("read-unrolled", "read, 64-bit loads, four sums", read_unrolled, always, "") \
	X("write-plain", "write, 64-bit stores", write_plain, always, "") \
	X("write-unrolled", "write, 64-bit stores, a line a turn", write_unrolled, always, "") \
	X("write-memset", "write, memset of the C library", write_memset, always, "") \
	X("copy-plain", "copy, 64-bit loads and stores", copy_plain, always, "") \
	X("copy-unrolled", "copy, 64-bit, a line a turn", copy_unrolled, always, "") \
	X("copy-memcpy", "copy, memcpy of the C library", copy_memcpy, always, "")

#if defined(__x86_64__)
#define X86_LOOPS(X)    \
	X("read-avx2", "read, AVX2", read_avx2, has_avx2, "AVX2") \
	X("read-avx512", "read, AVX-512", read_avx512, has_avx512, "AVX-512") \
	X("write-avx512", "write, AVX-512", write_avx512, has_avx512, "AVX-512") \
	X("write-nt", "write, AVX2, non-temporal", write_nontemporal, has_avx2, "AVX2") \
	X("write-stosb", "write, rep stosb", write_stosb, always, "") \
	X("copy-avx512", "copy, AVX-512", copy_avx512, has_avx512, "AVX-512") \
	X("copy-nt", "copy, AVX2, non-temporal", copy_nontemporal, has_avx2, "AVX2") \
	X("copy-movsb", "copy, rep movsb", copy_movsb, always, "")
#else
#define X86_LOOPS(X)
#endif

#define MEMORY_LOOPS(X) PORTABLE_LOOPS(X) X86_LOOPS(X)

enum memory_loop_id {
#define X(name, title, run, has, lacks) LOOP_##run,
	MEMORY_LOOPS(X)
#undef X
};

struct memory_loop {
	/* Of readers, the sum of the words that were read; of others nothing. */
	uint64_t (*run)(const char *from, char *to, uint64_t bytes);
	bool (*has)(void);	/* true if this processor has the instructions */
	const char *lacks;	/* what it has not otherwise */
};

const struct memory_loop *memory_loop(enum memory_loop_id id);

/*
 * Runs the loop over the arrays until it has passed over @mib or more, once at least, and sets
 * w->value to the bytes passed over in a nanosecond. A counting pass makes no turn before the region,
 * and tells by a witness how many bytes were touched.
 */
void memory_loop_time(struct work *w, const struct memory_loop *loop, const struct arrays *a,
		      uint64_t mib);

#endif
