/* SPDX-License-Identifier: GPL-2.0 */
/* A record whose laws balance, made anew for each test that breaks it. */
#ifndef COPYSCOPE_RECORD_FIXTURE_H
#define COPYSCOPE_RECORD_FIXTURE_H

#include "tests/unit/made_record.h"
#include "tests/unit/unit.h"

static struct made m;

static int whole_record(void **state)
{
	made_init(&m);
	return 0;
}

#define TEST_OF_RECORD(name) TEST_BETWEEN(name, whole_record, NULL)

#endif
