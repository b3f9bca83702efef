/* SPDX-License-Identifier: GPL-2.0 */
/* What a program of unit tests is made of: cmocka, and tests that enter themselves into its list. */
#ifndef COPYSCOPE_UNIT_H
#define COPYSCOPE_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct CMUnitTest unit_tests[64];
static size_t unit_test_count;

/* TEST(name) { ... } in place of a function's head. Tests run in the order of the file. */
#define TEST(test) TEST_BETWEEN(test, NULL, NULL)
#define TEST_BETWEEN(test, setup, teardown)                                                       \
	static void test(void **state);                                                           \
	static __attribute__((constructor)) void enter_##test(void)                               \
	{                                                                                         \
		unit_tests[unit_test_count++] =                                                   \
			(struct CMUnitTest)cmocka_unit_test_setup_teardown(test, setup, teardown); \
	}                                                                                         \
	static void test(void **state)

int main(void)
{
	return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, NULL, NULL);
}

#endif
