/* SPDX-License-Identifier: GPL-2.0 */
/* Tells the programs which callers of a copy decide its cause by themselves. */
#ifndef COPYSCOPE_DECIDERS_H
#define COPYSCOPE_DECIDERS_H

struct bpf_object;

/* Of a backend that is loaded. A function that finds no room in the map is not known there: its
 * copies are charged to whole stacks. */
void deciders_fill(const struct bpf_object *object);

#endif
