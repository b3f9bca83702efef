/* SPDX-License-Identifier: GPL-2.0 */
/* Say in one line on stderr what went wrong and what to do. */
#ifndef WORKLOAD_FAIL_H
#define WORKLOAD_FAIL_H

enum exit_code {
	EXIT_FINE = 0,
	EXIT_RUN_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	EXIT_REFUSED = 3,	/* the kernel lacks what it needs */
};

/* One line, prefixed with the program's name; a newline is added. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* From now on the first line of a child counts, too. 0 or -ENOMEM. */
int complaints_share(void);

/* The first line that complain() printed, without the program's name; NULL: none yet. */
const char *first_complaint(void);

/* complain(), then leave with EXIT_BAD_USAGE or EXIT_RUN_FAILED. Only before threads exist. */
void usage_error(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
