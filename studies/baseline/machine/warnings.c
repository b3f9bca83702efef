// SPDX-License-Identifier: GPL-2.0
/* Collects sentences, each one once. */
#include "studies/baseline/machine/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void warnings_add(struct warnings *w, const char *format, ...)
{
	char sentence[WARNING_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	for (int i = 0; i < w->count; i++)
		if (!strcmp(w->sentence[i], sentence))
			return;
	if (w->count < WARNINGS_MAX)
		strcpy(w->sentence[w->count++], sentence);
}
