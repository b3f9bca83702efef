// SPDX-License-Identifier: GPL-2.0
// Claims about a forked child's own code: reading it faults, unless all of it was touched before.
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/events.h"
#include "tests/unit/unit.h"

enum { CONSTANT_BYTES = 1 << 20 };

/* Not all 0, so that the file holds it. */
static const char constants[CONSTANT_BYTES] = { [CONSTANT_BYTES - 1] = 1 };

static long faults_of_reading(long bytes)
{
	long page = sysconf(_SC_PAGESIZE);
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (long at = 0; at < bytes; at += page)
		*(const volatile char *)&constants[at];
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
}

static int faults_in_a_child(bool touched)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (touched)
			code_touch();
		faults_of_reading(0);	/* now the stack is the child's own as well */
		_exit(faults_of_reading(CONSTANT_BYTES) > 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(reading_ones_own_constants_takes_page_faults)
{
	assert_int_equal(faults_in_a_child(false), 1);
}

TEST(it_takes_none_once_touched)
{
#ifdef __SANITIZE_ADDRESS__
	skip();	/* its shadow memory takes page faults too */
#endif
	assert_int_equal(faults_in_a_child(true), 0);
}
