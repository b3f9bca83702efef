/* SPDX-License-Identifier: GPL-2.0 */
/* Where things lie in the tree that the running program belongs to. */
#ifndef COPYSCOPE_TREE_H
#define COPYSCOPE_TREE_H

#include <stddef.h>

/* Writes the absolute path of @name in the tree: build/trace_run's own folder is build/. */
void tree_path(const char *name, char *path, size_t size);

/* Writes the path of the record @name in COPYSCOPE_RUNS, or in results/runs of the tree. Makes that
 * folder if it can; as root only if no other user decides where the path leads. 0, or
 * -ENAMETOOLONG. */
int tree_record_path(const char *name, char *path, size_t size);

#endif
