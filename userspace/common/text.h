/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers, and text that is folded, as people read them on a terminal. */
#ifndef COPYSCOPE_TEXT_H
#define COPYSCOPE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* 12345678901 -> "12.3 GB", 950 -> "950 B": three digits, powers of 1000; @text holds 16 bytes. */
void bytes_text(uint64_t bytes, char *text);

/* 17.4e9 -> "17.4 Gbit/s"; @text holds 16 bytes. */
void rate_text(double bits_per_s, char *text);

/* Prints @first, then @text broken at spaces; further lines are indented by @indent columns. */
void print_wrapped(FILE *out, const char *first, const char *text, int indent);

#endif
