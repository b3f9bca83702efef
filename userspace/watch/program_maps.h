/* SPDX-License-Identifier: GPL-2.0 */
/* What code processes have mapped, with the files opened: kept from the first sight of each, as it may end. */
#ifndef COPYSCOPE_WATCH_PROGRAM_MAPS_H
#define COPYSCOPE_WATCH_PROGRAM_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/record/user_stacks.h"

/* Some of a file, or of memory without one. */
struct code {
	uint64_t start, end, offset;
	int file;	/* in .files; -1: none */
};

struct code_file {
	uint64_t inode;
	uint32_t device;
	int fd;		/* -1: it could not be opened */
	int apart;	/* symbols that were stripped off it; -1: none are known */
	bool apart_sought;
	struct stack_module module;	/* as far as it is known without the file's content */
};

struct program {
	uint32_t tgid;
	uint64_t started_ns;
	struct code *code;	/* owned, the newest first */
	int count, room;
	int perf_map;		/* what a compiler at run time says of its code; -1: nothing */
};

struct program_maps {
	struct program *programs;	/* owned, these two */
	struct code_file *files;
	int program_count, program_room, file_count, file_room;
};

/* Notes what a process has mapped now, beside what it had: nothing, if it is gone or another one has its number. */
void program_maps_look(struct program_maps *all, uint32_t tgid, uint64_t started_ns);

/* Opens what this machine has of symbols that were stripped off a file, by its build-id. */
void program_maps_open_apart(struct code_file *file, const unsigned char *build_id, int bytes);

/* What compilers at run time said by now of those that still run. */
void program_maps_refresh(struct program_maps *all);

/* NULL: nothing is known of it. */
const struct program *program_maps_find(const struct program_maps *all, uint32_t tgid, uint64_t started_ns);

/* NULL: nothing that holds the address was mapped executable. */
const struct code *program_code_at(const struct program *p, uint64_t address);

#endif
