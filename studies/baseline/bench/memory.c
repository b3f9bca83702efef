// SPDX-License-Identifier: GPL-2.0
/* Maps, touches and describes working sets. Attributes keep the compiler from using other instructions in loops. */
#include "studies/baseline/bench/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "studies/baseline/bench/clock.h"

enum { HUGE_BYTES = 2 << 20, SMALLEST_LARGE = 64 << 20 };

void *ram_get(uint64_t bytes)
{
	uint64_t room = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES + HUGE_BYTES;
	char *all = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at;

	if (all == MAP_FAILED)
		return NULL;
	at = (char *)(((uintptr_t)all + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
	if (at > all)
		munmap(all, at - all);
	munmap(at + room - HUGE_BYTES, all + HUGE_BYTES - at);
	madvise(at, room - HUGE_BYTES, MADV_HUGEPAGE);
	memset(at, 1, room - HUGE_BYTES);
	return at;
}

void ram_free(void *at, uint64_t bytes)
{
	if (at)
		munmap(at, (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
}

struct arrays *arrays_new(uint64_t bytes)
{
	struct arrays *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->bytes = bytes;
	a->from = ram_get(bytes);
	a->to = ram_get(bytes);
	if (!a->from || !a->to) {
		arrays_free(a);
		errno = ENOMEM;
		return NULL;
	}
	memset(a->to, 0, bytes);
	for (uint64_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)a->from)[i] = 1;
	return a;
}

void arrays_free(struct arrays *a)
{
	if (!a)
		return;
	ram_free(a->from, a->bytes);
	ram_free(a->to, a->bytes);
	free(a);
}

/* Bytes of @to that a pass over the arrays wrote. */
static uint64_t arrays_written(const struct arrays *a)
{
	uint64_t words = 0;

	for (uint64_t i = 0; i < a->bytes / sizeof(uint64_t); i++)
		words += ((const uint64_t *)a->to)[i] != 0;
	return words * sizeof(uint64_t);
}

/* Of the mapping that holds @at, what a line of smaps says. */
static double smaps_bytes(const void *at, const char *format)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long from, to, kib, found = 0;
	bool inside = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from <= (uintptr_t)at && (uintptr_t)at < to;
		else if (inside && sscanf(line, format, &kib) == 1)
			found = kib;
	}
	if (file)
		fclose(file);
	return found * 1024.0;
}

double ram_huge_bytes(const void *at)
{
	return smaps_bytes(at, "AnonHugePages: %lu kB");
}

double ram_mapped_bytes(const void *at)
{
	return smaps_bytes(at, "Rss: %lu kB");
}

uint64_t ram_told_bytes(const struct machine_info *m)
{
	return m->l3_bytes > m->l2_bytes ? m->l3_bytes : m->l2_bytes;
}

/* What the last cache holds of ours: its share of what the kernel tells, if the curve showed it. */
static uint64_t last_cache_bytes(const struct machine_info *m)
{
	uint64_t found = levels_last_bytes(&m->levels);

	return found && m->levels.of[LEVEL_MEMORY].ns ? found : ram_told_bytes(m);
}

uint64_t ram_large_bytes(const struct machine_info *m)
{
	uint64_t last = last_cache_bytes(m), bytes = SMALLEST_LARGE;

	while (bytes < 4 * last)
		bytes *= 2;
	while (bytes > m->available_bytes / 4)
		bytes /= 2;
	return bytes >= SMALLEST_LARGE && bytes > 2 * last ? bytes : 0;
}

uint64_t ram_curve_bytes(const struct machine_info *m)
{
	uint64_t bytes = SMALLEST_LARGE, told = ram_told_bytes(m);

	while (bytes < 2 * told)
		bytes *= 2;
	while (bytes > m->available_bytes / 4)
		bytes /= 2;
	return bytes;
}

enum { LINE_WORDS = 8 };

/* Clang can say so of a file or a loop only: tests/checks.mk says it of this file. */
#if __has_attribute(optimize)
#define NOT_VECTORISED \
	__attribute__((optimize("no-tree-vectorize,no-tree-loop-distribute-patterns")))
#else
#define NOT_VECTORISED
#endif

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

const struct memory_loop *memory_loop(enum memory_loop_id id)
{
	static const struct memory_loop loops[] = {
#define X(name, title, run, has, lacks) { run, has, lacks },
		MEMORY_LOOPS(X)
#undef X
	};

	return &loops[id];
}

void memory_loop_time(struct work *w, const struct memory_loop *loop, const struct arrays *a,
		      uint64_t mib)
{
	uint64_t turns = (mib << 20) / a->bytes;
	uint64_t words = w->counting ? 0 : loop->run(a->from, a->to, a->bytes);

	turns = turns ? turns : 1;
	region_begin(w);
	for (uint64_t i = 0; i < turns; i++) {
		words = loop->run(a->from, a->to, a->bytes);
		asm volatile("" : "+r"(words) : : "memory");
	}
	region_end(w);
	w->value = turns * a->bytes / clock_ns(w->spent_ticks);
	if (w->counting)
		w->witness[WITNESS_TOUCHED] = words ? words * sizeof(words) : arrays_written(a);
}
