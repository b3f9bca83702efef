// SPDX-License-Identifier: GPL-2.0
/*
 * Family kernels: main memory read, written and copied by several well-known loops, each in the
 * instructions that it is named after, so that the plain rows can be seen as a share of the best.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "userspace/baseline/bench/region.h"
#include "userspace/baseline/bench/task.h"
#include "userspace/baseline/bench/work.h"
#include "userspace/baseline/families/families.h"
#include "userspace/baseline/families/shared_invariants.h"
#include "userspace/baseline/lab/ram.h"
#include "userspace/baseline/timing/clock.h"

enum { LINE_WORDS = 8 };

/* Of readers, the sum of the words that were read; of others nothing. */
typedef uint64_t (*kernel)(const char *from, char *to, uint64_t bytes);

#define NOT_VECTORISED \
	__attribute__((optimize("no-tree-vectorize,no-tree-loop-distribute-patterns")))

NOT_VECTORISED
static uint64_t read_plain(const char *from, char *to, uint64_t bytes)
{
	const uint64_t *at = (const uint64_t *)from, *end = at + bytes / sizeof(*at);
	uint64_t sum = 0;

	for (; at < end; at++)
		sum += *at;
	return sum;
}

NOT_VECTORISED
static uint64_t read_unrolled(const char *from, char *to, uint64_t bytes)
{
	const uint64_t *at = (const uint64_t *)from, *end = at + bytes / sizeof(*at);
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (; at < end; at += LINE_WORDS) {
		a += at[0] + at[4];
		b += at[1] + at[5];
		c += at[2] + at[6];
		d += at[3] + at[7];
	}
	return a + b + c + d;
}

NOT_VECTORISED
static uint64_t write_plain(const char *from, char *to, uint64_t bytes)
{
	uint64_t *at = (uint64_t *)to, *end = at + bytes / sizeof(*at);

	for (; at < end; at++)
		*at = 1;
	return 0;
}

NOT_VECTORISED
static uint64_t write_unrolled(const char *from, char *to, uint64_t bytes)
{
	uint64_t *at = (uint64_t *)to, *end = at + bytes / sizeof(*at);

	for (; at < end; at += LINE_WORDS) {
		at[0] = at[1] = at[2] = at[3] = 1;
		at[4] = at[5] = at[6] = at[7] = 1;
	}
	return 0;
}

static uint64_t write_memset(const char *from, char *to, uint64_t bytes)
{
	memset(to, 1, bytes);
	return 0;
}

NOT_VECTORISED
static uint64_t copy_plain(const char *from, char *to, uint64_t bytes)
{
	const uint64_t *at = (const uint64_t *)from, *end = at + bytes / sizeof(*at);
	uint64_t *out = (uint64_t *)to;

	while (at < end)
		*out++ = *at++;
	return 0;
}

NOT_VECTORISED
static uint64_t copy_unrolled(const char *from, char *to, uint64_t bytes)
{
	const uint64_t *at = (const uint64_t *)from, *end = at + bytes / sizeof(*at);
	uint64_t *out = (uint64_t *)to;

	for (; at < end; at += LINE_WORDS, out += LINE_WORDS) {
		out[0] = at[0], out[1] = at[1], out[2] = at[2], out[3] = at[3];
		out[4] = at[4], out[5] = at[5], out[6] = at[6], out[7] = at[7];
	}
	return 0;
}

static uint64_t copy_memcpy(const char *from, char *to, uint64_t bytes)
{
	memcpy(to, from, bytes);
	return 0;
}

static bool always(void)
{
	return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

__attribute__((target("avx2")))
static uint64_t read_avx2(const char *from, char *to, uint64_t bytes)
{
	const __m256i *at = (const __m256i *)from, *end = at + bytes / sizeof(*at);
	__m256i a = _mm256_setzero_si256(), b = a;
	uint64_t sums[4];

	for (; at < end; at += 4) {
		a = _mm256_add_epi64(a, _mm256_add_epi64(at[0], at[2]));
		b = _mm256_add_epi64(b, _mm256_add_epi64(at[1], at[3]));
	}
	_mm256_storeu_si256((__m256i *)sums, _mm256_add_epi64(a, b));
	return sums[0] + sums[1] + sums[2] + sums[3];
}

__attribute__((target("avx512f")))
static uint64_t read_avx512(const char *from, char *to, uint64_t bytes)
{
	const __m512i *at = (const __m512i *)from, *end = at + bytes / sizeof(*at);
	__m512i a = _mm512_setzero_si512(), b = a;

	for (; at < end; at += 4) {
		a = _mm512_add_epi64(a, _mm512_add_epi64(at[0], at[2]));
		b = _mm512_add_epi64(b, _mm512_add_epi64(at[1], at[3]));
	}
	return _mm512_reduce_add_epi64(_mm512_add_epi64(a, b));
}

__attribute__((target("avx512f")))
static uint64_t write_avx512(const char *from, char *to, uint64_t bytes)
{
	__m512i *at = (__m512i *)to, *end = at + bytes / sizeof(*at), one = _mm512_set1_epi64(1);

	for (; at < end; at++)
		_mm512_store_si512(at, one);
	return 0;
}

/* Streaming stores go past the caches: no line is read before it is written. */
__attribute__((target("avx2")))
static uint64_t write_nontemporal(const char *from, char *to, uint64_t bytes)
{
	__m256i *at = (__m256i *)to, *end = at + bytes / sizeof(*at), one = _mm256_set1_epi64x(1);

	for (; at < end; at += 2) {
		_mm256_stream_si256(at, one);
		_mm256_stream_si256(at + 1, one);
	}
	_mm_sfence();
	return 0;
}

static uint64_t write_stosb(const char *from, char *to, uint64_t bytes)
{
	asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(1) : "memory");
	return 0;
}

__attribute__((target("avx512f")))
static uint64_t copy_avx512(const char *from, char *to, uint64_t bytes)
{
	const __m512i *at = (const __m512i *)from, *end = at + bytes / sizeof(*at);
	__m512i *out = (__m512i *)to;

	while (at < end)
		_mm512_store_si512(out++, _mm512_load_si512(at++));
	return 0;
}

__attribute__((target("avx2")))
static uint64_t copy_nontemporal(const char *from, char *to, uint64_t bytes)
{
	const __m256i *at = (const __m256i *)from, *end = at + bytes / sizeof(*at);
	__m256i *out = (__m256i *)to;

	for (; at < end; at += 2, out += 2) {
		_mm256_stream_si256(out, _mm256_load_si256(at));
		_mm256_stream_si256(out + 1, _mm256_load_si256(at + 1));
	}
	_mm_sfence();
	return 0;
}

/* What the kernel copies user memory with where the processor has ERMS or FSRM. */
static uint64_t copy_movsb(const char *from, char *to, uint64_t bytes)
{
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	return 0;
}
#endif

/* name, title, function, whether this processor has it, what it lacks otherwise */
#define PORTABLE(X)    \
	X("read-plain", "read, 64-bit loads", read_plain, always, "") \
	X("read-unrolled", "read, 64-bit loads, four sums", read_unrolled, always, "") \
	X("write-plain", "write, 64-bit stores", write_plain, always, "") \
	X("write-unrolled", "write, 64-bit stores, a line a turn", write_unrolled, always, "") \
	X("write-memset", "write, memset of the C library", write_memset, always, "") \
	X("copy-plain", "copy, 64-bit loads and stores", copy_plain, always, "") \
	X("copy-unrolled", "copy, 64-bit, a line a turn", copy_unrolled, always, "") \
	X("copy-memcpy", "copy, memcpy of the C library", copy_memcpy, always, "")

#if defined(__x86_64__)
#define X86(X)    \
	X("read-avx2", "read, AVX2", read_avx2, has_avx2, "AVX2") \
	X("read-avx512", "read, AVX-512", read_avx512, has_avx512, "AVX-512") \
	X("write-avx512", "write, AVX-512", write_avx512, has_avx512, "AVX-512") \
	X("write-nt", "write, AVX2, non-temporal", write_nontemporal, has_avx2, "AVX2") \
	X("write-stosb", "write, rep stosb", write_stosb, always, "") \
	X("copy-avx512", "copy, AVX-512", copy_avx512, has_avx512, "AVX-512") \
	X("copy-nt", "copy, AVX2, non-temporal", copy_nontemporal, has_avx2, "AVX2") \
	X("copy-movsb", "copy, rep movsb", copy_movsb, always, "")
#else
#define X86(X)
#endif

#define KERNELS(X) PORTABLE(X) X86(X)

enum {
#define X(name, title, run, has, lacks) KERNEL_##run,
	KERNELS(X)
#undef X
};

static const struct {
	kernel run;
	bool (*has)(void);
	const char *lacks;
} kernels[] = {
#define X(name, title, run, has, lacks) { run, has, lacks },
	KERNELS(X)
#undef X
};

static int prepare_kernels(struct work *w, const struct row *row)
{
	if (!kernels[row->which].has())
		return work_fail(w, 0, "this processor has no %s", kernels[row->which].lacks);
	return 0;
}

/* @calls is in MiB; a counting pass makes one turn over exactly so much. */
static int time_kernels(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t large = ram_large_bytes(w->machine), bytes = w->counting ? calls << 20 : large;
	kernel run = kernels[row->which].run;
	struct arrays *a = w->own;
	uint64_t turns, words;

	if (!large)
		return work_fail(w, 0, "too little free memory for arrays that no cache holds");
	if (!a)
		a = w->own = arrays_new(bytes);
	if (!a)
		return work_fail(w, errno, "no memory");
	task_pin(0);
	turns = (calls << 20) / bytes;
	turns = turns ? turns : 1;
	words = w->counting ? 0 : run(a->from, a->to, a->bytes);
	region_begin(w);
	for (uint64_t i = 0; i < turns; i++) {
		words = run(a->from, a->to, a->bytes);
		asm volatile("" : "+r"(words) : : "memory");
	}
	region_end(w);
	w->value = turns * bytes / clock_ns(w->spent_ticks);
	if (w->counting)
		w->witness[WITNESS_TOUCHED] = words ? words * sizeof(words) : arrays_written(a);
	snprintf(w->how, sizeof(w->how), "%llu MiB, one thread, counted once a byte",
		 (unsigned long long)bytes >> 20);
	return 0;
}

static void undo_kernels(struct work *w)
{
	arrays_free(w->own);
}

static const struct row rows[] = {
#define X(id, text, run, has, lacks)                                                        \
	{ .name = "ram-" id, .title = "memory " text, .unit = "GB/s",                    \
	  .which = KERNEL_##run, .extra = true, .calls = 512, .quick_calls = 256,           \
	  .counted_calls = 31, .invariants = { ALL_IN_USER_MODE, EACH_BYTE } },
	KERNELS(X)
#undef X
};

const struct family family_kernels = {
	.name = "kernels", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_kernels, .time = time_kernels, .undo = undo_kernels,
};
