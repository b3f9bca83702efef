/* SPDX-License-Identifier: GPL-2.0 */
/* Files without a name, which end with their last descriptor, and what the page cache holds of them. */
#ifndef COPYSCOPE_BASELINE_FILES_H
#define COPYSCOPE_BASELINE_FILES_H

#include "studies/baseline/bench/bench.h"

enum { PAGE_BYTES = 4096, BLOCK_BYTES = 4096 };

/* A file of which every byte is on the disk, made in the protocol's folder. Refuses tmpfs and ramfs. */
int file_make(struct work *w, uint64_t bytes, int *fd);
int file_make_hole(struct work *w, uint64_t bytes, int *fd);

/* The same, left in the page cache; refuses where that has no room for it. */
int file_make_cached(struct work *w, uint64_t bytes, int *fd);

/* Drops the file's own pages from the page cache, or all caches if the user said so; checks. */
int file_forget(struct work *w, int fd);

/* Pages of the file that the page cache holds. */
uint64_t file_cached_pages(int fd);

/* Bytes that this process and its collected children have read from disks. */
double file_disk_bytes(void);

/*
 * The region: reads @calls blocks of @block_count with pread(), each @step blocks behind the last.
 * 0 or -errno.
 */
int file_read_region(struct work *w, int fd, uint64_t calls, uint64_t block_count, uint64_t step);

/* A step that visits every one of @n places once, far from the one before. */
uint64_t file_stride(uint64_t n);

#endif
