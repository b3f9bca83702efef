/* SPDX-License-Identifier: GPL-2.0 */
/* Tells what may have been meant by an option that there is not. */
#ifndef COPYSCOPE_MISTYPED_H
#define COPYSCOPE_MISTYPED_H

#include <argp.h>

/* Fails: @word lacks its value, or is no option of the @tables (the last is NULL) but may mean one. */
void options_mistyped(const char *word, const struct argp_option *const *tables)
	__attribute__((noreturn));

#endif
