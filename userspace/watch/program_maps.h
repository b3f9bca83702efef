/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What code processes have mapped: kept from the first sight of each, as it may end. A file stays open while a program
 * that mapped it runs; then it is let go, so that its file system can be unmounted, and is read by its name later if
 * that is still the same file.
 */
#ifndef COPYSCOPE_WATCH_PROGRAM_MAPS_H
#define COPYSCOPE_WATCH_PROGRAM_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
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
	int fd;		/* -1: it could not be opened, or is let go */
	bool let_go;	/* .was tells whether what has its name is still the same */
	struct stat was;
	int apart;	/* symbols that were stripped off it; -1: none are known */
	bool apart_sought;
	struct stack_module module;	/* as far as it is known without the file's content */
};

struct program {
	uint32_t tgid;
	uint64_t started_ns;
	struct code *code;	/* owned, the newest first */
	int count, room;
	bool ended;
	unsigned int number;	/* its own in its namespace of processes */
	int perf_map;		/* what a compiler at run time says of its code; -1: nothing, or let go */
	struct stat perf_map_was;
};

struct program_maps {
	struct program *programs;	/* owned, these two */
	struct code_file *files;
	int program_count, program_room, file_count, file_room;
	unsigned int asked;	/* which of the programs are asked next whether they run */
};

/* Notes what a process has mapped now, beside what it had: nothing, if it is gone or another one has its number. */
void program_maps_look(struct program_maps *all, uint32_t tgid, uint64_t started_ns);

/* Opens what this machine has of symbols that were stripped off a file, by its build-id. */
void program_maps_open_apart(struct code_file *file, const unsigned char *build_id, int bytes);

/* What compilers at run time said by now of those that still run, and what was let go and still has its name. */
void program_maps_refresh(struct program_maps *all);

/* Closes what programs had mapped that ended. Of many programs each call asks some. */
void program_maps_let_go(struct program_maps *all);

/* NULL: nothing is known of it. */
const struct program *program_maps_find(const struct program_maps *all, uint32_t tgid, uint64_t started_ns);

/* NULL: nothing that holds the address was mapped executable. */
const struct code *program_code_at(const struct program *p, uint64_t address);

#endif
