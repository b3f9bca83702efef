// SPDX-License-Identifier: GPL-2.0
/* Numbers read as people write them, and no rounding claims more than was counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/common/numbers.h"
#include "userspace/common/text.h"

TEST(bytes_have_three_digits_and_a_unit)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" }, { 999, "999 B" }, { 1000, "1.00 kB" }, { 9994, "9.99 kB" },
		{ 9996, "10.0 kB" }, { 99960, "100 kB" }, { 999499, "999 kB" }, { 999500, "1.00 MB" },
		{ 12345678901, "12.3 GB" }, { UINT64_MAX, "18.4 EB" },
	};
	char text[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bytes_text(rows[i].bytes, text);
		assert_string_equal(text, rows[i].text);
	}
}

TEST(rates_have_three_digits_and_a_unit)
{
	static const struct {
		double bits_per_s;
		const char *text;
	} rates[] = {
		{ 0, "0 bit/s" }, { 1000, "1.00 kbit/s" }, { 437.4e6, "437 Mbit/s" },
		{ 17.36e9, "17.4 Gbit/s" }, { 1.234e12, "1.23 Tbit/s" },
	};
	char text[16];

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		rate_text(rates[i].bits_per_s, text);
		assert_string_equal(text, rates[i].text);
	}
}

TEST(k_and_m_are_powers_of_two_however_they_are_written)
{
	static const struct {
		const char *text;
		uint64_t number;
	} rows[] = {
		{ "64", 64 }, { "64k", 65536 }, { "64K", 65536 }, { "64KB", 65536 }, { "64kB", 65536 },
		{ "64KiB", 65536 }, { "64kib", 65536 }, { "1M", 1048576 }, { "1m", 1048576 },
		{ "1MB", 1048576 }, { "1MiB", 1048576 }, { "64kb", 65536 }, { "1024k", 1048576 },
		/* None: */
		{ "64 k", 0 }, { "64kk", 0 }, { "64B", 0 }, { "64Bi", 0 }, { "64iB", 0 }, { "1G", 0 },
		{ "k", 0 }, { "", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t number = 0;
		int err = whole_parse(rows[i].text, NUMBER_WITH_SUFFIX, 1, UINT64_MAX, &number);

		assert_int_equal(err, rows[i].number ? 0 : -EINVAL);
		assert_int_equal(number, rows[i].number);
		if (rows[i].number != 64)
			assert_int_equal(whole_parse(rows[i].text, NUMBER_PLAIN, 1, 64, &number), -EINVAL);
	}
}

TEST(text_is_folded_at_the_width_of_the_page)
{
	/* What is left of 98 columns behind "a: b\xc3\xb6g ", of which a character of two bytes takes one. */
	char words[] = "b\xc3\xb6g xxxxxxxxxx" "xxxxxxxxxx" "xxxxxxxxxx" "xxxxxxxxxx" "xxxxxxxxxx" "xxxxxxxxxx" "xxxxxxxxxx"
		       "xxxxxxxxxx" "xxxxxxxxxx" "x sat", *end = words + sizeof(words) - sizeof(" sat");
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	print_wrapped(out, "a: ", words, 3);
	fclose(out);
	*end = '\0';
	assert_int_equal(bytes, strlen("a: \n   sat\n") + strlen(words));
	assert_memory_equal(text + 3, words, strlen(words));
	assert_string_equal(text + 3 + strlen(words), "\n   sat\n");
	free(text);
}
