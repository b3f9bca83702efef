/* SPDX-License-Identifier: GPL-2.0 */
/* Slips of a book whose laws all balance: each must break its law. */
#ifndef COPYSCOPE_SLIPS_H
#define COPYSCOPE_SLIPS_H

/* The file that tests has all_laws(), which makes the book, and breaks(), which says that a law of it is broken. */
#define BREAKS(law, field, by)                              \
	do {                                                \
		struct watch_book slips = all_laws();       \
							    \
		slips.field += (by);                        \
		breaks(&slips, WATCH_LAW_##law);            \
	} while (0)

#endif
