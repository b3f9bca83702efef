/* SPDX-License-Identifier: GPL-2.0 */
/* JSON that came from another host. Pure. */
#ifndef COPYSCOPE_FOREIGN_JSON_H
#define COPYSCOPE_FOREIGN_JSON_H

#include <jansson.h>
#include <stddef.h>

/* The object that a text is; NULL if it is none, or if any string in it is not printable ASCII. */
json_t *foreign_object(const char *text, size_t bytes);

#endif
