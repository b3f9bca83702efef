/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and sentences as people read them on a terminal. */
#ifndef COPYSCOPE_TEXT_H
#define COPYSCOPE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* 65536000 -> "65,536,000"; @text holds 32 bytes. */
void number_text(int64_t number, char *text);

/* Prints @first, then @text broken at spaces; further lines are indented by @indent columns. */
void print_wrapped(FILE *out, const char *first, const char *text, int indent);

#endif
