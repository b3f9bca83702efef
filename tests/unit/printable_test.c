// SPDX-License-Identifier: GPL-2.0
/* Messages show texts of others on one line that no terminal obeys, however long it is. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/common/printable.h"

TEST(what_is_plain_stays)
{
	assert_string_equal(printable(""), "");
	assert_string_equal(printable("results/my run.json"), "results/my run.json");
	assert_string_equal(printable("Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\x9d"),
			    "Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\x9d");
}

TEST(what_a_terminal_obeys_is_escaped)
{
	assert_string_equal(printable("a\033[31mb\a"), "a\\x1b[31mb\\x07");
	assert_string_equal(printable("one\ntwo\r\tthree\x7f"), "one\\ntwo\\r\\tthree\\x7f");
	/* U+009B begins a sequence as ESC [ does; U+202E turns the line; U+2028 breaks it. */
	assert_string_equal(printable("\xc2\x9b"), "\\xc2\\x9b");
	assert_string_equal(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");
	assert_string_equal(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");
}

TEST(what_is_no_utf8_is_escaped)
{
	assert_string_equal(printable("\xff" "a\x80"), "\\xffa\\x80");
	assert_string_equal(printable("\xc3"), "\\xc3");
	assert_string_equal(printable("\xe2\x82"), "\\xe2\\x82");
	/* Too long a form of '/', a surrogate, beyond Unicode. */
	assert_string_equal(printable("\xc0\xaf"), "\\xc0\\xaf");
	assert_string_equal(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_string_equal(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(of_a_long_text_beginning_and_end_are_shown)
{
	size_t size = 100 << 10;
	char *text = malloc(size + 1);
	const char *shown;

	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = 0;
	memcpy(text, "begin", 5);
	memcpy(text + size - 3, "end", 3);
	shown = printable(text);
	assert_int_equal(strlen(shown), 200);
	assert_memory_equal(shown, "begin", 5);
	assert_string_equal(shown + 197, "end");
	assert_non_null(strstr(shown, "x...x"));
	/* Escaped bytes are never cut in two, and what they grow by counts. */
	memset(text, 0x1b, size);
	shown = printable(text);
	assert_true(strlen(shown) <= 200);
	assert_string_equal(shown + strlen(shown) - 4, "\\x1b");
	assert_non_null(strstr(shown, "\\x1b...\\x1b"));
	/* The longest that is shown whole. */
	memset(text, 'y', 200);
	text[200] = 0;
	assert_string_equal(printable(text), text);
	free(text);
}

TEST(several_can_be_shown_at_once)
{
	const char *first = printable("first");

	for (int i = 0; i < 8; i++)
		printable("another");
	assert_string_equal(first, "first");
}
