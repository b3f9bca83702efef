// SPDX-License-Identifier: GPL-2.0
/* Claims about what trace_run takes from the plugin's report, and from what tools/guest says of the model. */
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/counters/modelled.h"

static const char offer[] = "/dev/vport0p5 zen2 QEMU-7.2.22-TCG 64 victim 1 32768 8 524288 8 16777216 16";

TEST(an_offer_names_port_caches_and_emulator)
{
	struct model_caches c = {};
	char port[64];

	assert_true(model_caches_parse(offer, port, sizeof(port), &c));
	assert_string_equal(port, "/dev/vport0p5");
	assert_string_equal(c.name, "zen2");
	assert_string_equal(c.emulator, "QEMU-7.2.22-TCG");
	assert_string_equal(c.llc_kind, "victim");
	assert_true(c.write_allocate);
	assert_int_equal(c.line_bytes, 64);
	assert_int_equal(c.level[1].bytes, 524288);
	assert_int_equal(c.level[2].ways, 16);
}

TEST(half_an_offer_is_none)
{
	struct model_caches c;
	char port[64], half[sizeof(offer)];

	strcpy(half, offer);
	*strrchr(half, ' ') = '\0';
	assert_false(model_caches_parse(half, port, sizeof(port), &c));
	assert_false(model_caches_parse("", port, sizeof(port), &c));
	assert_false(model_caches_parse(offer, port, 4, &c));
}

TEST(lines_fill_cells_and_sums_add_them_up)
{
	struct modelled m = {};
	bool ended;

	assert_true(model_line_parse("cell 1 1 2 10 1 2 3 4 5 6 7 8 9 4096 11", &m, &ended));
	assert_false(ended);
	assert_true(model_line_parse("cell 1 2 0 100 0 0 0 0 0 0 0 0 0 0 0", &m, &ended));
	assert_true(model_line_parse("end", &m, &ended));
	assert_true(ended);
	assert_int_equal(m.count[1][MARKER_KERNEL][MODEL_TX_COPY][MARKER_COPIED_BYTES], 4096);
	assert_int_equal(model_sum(&m, 1, MARKER_KERNEL, MARKER_INSTRUCTIONS), 10);
	assert_int_equal(model_sum(&m, 1, MARKER_CONTEXTS, MARKER_INSTRUCTIONS), 110);
	assert_int_equal(model_sum(&m, 2, MARKER_CONTEXTS, MARKER_INSTRUCTIONS), 0);
	assert_int_equal(model_sum(&m, 1, MARKER_KERNEL, MARKER_LLC_MISSES), 6);
}

TEST(lines_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"", "cell", "cell 1 1 2", "cell 3 0 0 1 1 1 1 1 1 1 1 1 1 1 1",
		"cell 0 3 0 1 1 1 1 1 1 1 1 1 1 1 1", "cell 0 0 8 1 1 1 1 1 1 1 1 1 1 1 1",
		"cell 0 0 0 1 1 1 1 1 1 1 1 1 1 1", "cell 0 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1",
		"cell 0 0 0 1 1 1 1 1 1 1 1 1 1 1 x",
	};
	struct modelled m;
	bool ended;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(model_line_parse(bad[i], &m, &ended));
}
