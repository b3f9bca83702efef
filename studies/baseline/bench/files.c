// SPDX-License-Identifier: GPL-2.0
/* Makes nameless files on a real disk and empties their part of the page cache. */
#include "studies/baseline/bench/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"

enum { CHUNK_BYTES = 1 << 20, SPARE_BYTES = 64 << 20, SPARE_MEMORY_BYTES = 32 << 20,
       TRIES = 50 };

static int open_nameless(struct work *w, uint64_t bytes, int *fd)
{
	const struct machine_info *m = w->machine;

	*fd = -1;
	if (!strcmp(m->dir_fs, "tmpfs") || !strcmp(m->dir_fs, "ramfs"))
		return work_fail(w, 0, "%s is in memory (%s): choose another --dir on a disk",
				 m->dir, m->dir_fs);
	if (m->disk_free_bytes < bytes + SPARE_BYTES)
		return work_fail(w, 0, "%s has %llu MiB free and %llu are needed: choose another "
				 "--dir", m->dir, (unsigned long long)m->disk_free_bytes >> 20,
				 (unsigned long long)(bytes + SPARE_BYTES) >> 20);
	*fd = open(m->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return *fd < 0 ? work_fail(w, errno, "cannot make a file in %s", m->dir) : 0;
}

int file_make_hole(struct work *w, uint64_t bytes, int *fd)
{
	int err = open_nameless(w, bytes, fd);

	if (!err && ftruncate(*fd, bytes))
		err = work_fail(w, errno, "cannot make a file in %s", w->machine->dir);
	return err;
}

int file_make(struct work *w, uint64_t bytes, int *fd)
{
	char *chunk;
	int err;

	if (w->protocol->fault == INJECT_HOLE)
		return file_make_hole(w, bytes, fd);
	chunk = malloc(CHUNK_BYTES);
	err = open_nameless(w, bytes, fd);

	/* Not zeros: some disks compress or skip them. */
	for (int i = 0; i < CHUNK_BYTES; i++)
		chunk[i] = (i * 2654435761u) >> 13;
	while (!err && bytes) {
		size_t part = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
		ssize_t got = write(*fd, chunk, part);

		if (got <= 0)
			err = work_fail(w, errno, "cannot write a file in %s", w->machine->dir);
		else
			bytes -= got;
	}
	if (!err && fsync(*fd))
		err = work_fail(w, errno, "cannot write a file in %s", w->machine->dir);
	free(chunk);
	return err;
}

int file_make_cached(struct work *w, uint64_t bytes, int *fd)
{
	*fd = -1;
	if (w->machine->available_bytes < bytes + SPARE_MEMORY_BYTES)
		return work_fail(w, 0, "too little free memory for a page cache that keeps a file of "
				 "%llu MiB", (unsigned long long)bytes >> 20);
	return file_make(w, bytes, fd);
}

static void drop_everything(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "3", 1) != 1)
		return;
	close(fd);
}

/* Pages still under I/O stay, so ask again. */
int file_forget(struct work *w, int fd)
{
	uint64_t left = 0;

	if (w->protocol->drop_caches)
		drop_everything();
	for (int i = 0; i < TRIES; i++) {
		fdatasync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		left = file_cached_pages(fd);
		if (!left)
			return 0;
		usleep(2000);
	}
	return work_fail(w, 0, "%llu pages of the file stayed in the page cache",
			 (unsigned long long)left);
}

uint64_t file_cached_pages(int fd)
{
	struct stat st;
	unsigned char *in;
	uint64_t pages, found = 0;
	void *at;

	if (fstat(fd, &st) || !st.st_size)
		return 0;
	pages = (st.st_size + PAGE_BYTES - 1) / PAGE_BYTES;
	at = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	in = malloc(pages);
	if (at == MAP_FAILED || !in)
		abort();
	if (!mincore(at, st.st_size, in))
		for (uint64_t i = 0; i < pages; i++)
			found += in[i] & 1;
	munmap(at, st.st_size);
	free(in);
	return found;
}

double file_disk_bytes(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	/* In blocks of 512 bytes: task_io_account_read() behind getrusage. */
	return 512.0 * (self.ru_inblock + children.ru_inblock);
}

int file_read_region(struct work *w, int fd, uint64_t calls, uint64_t block_count, uint64_t step)
{
	char block[BLOCK_BYTES];
	uint64_t at = 0;
	int err = 0;

	region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++) {
		if (pread(fd, block, sizeof(block), at * BLOCK_BYTES) != sizeof(block))
			err = work_fail(w, errno, "cannot read");
		at = (at + step) % block_count;
	}
	region_end(w);
	return err;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	return b ? divisor(b, a % b) : a;
}

/* Near the golden section, and without a common divisor. */
uint64_t file_stride(uint64_t n)
{
	uint64_t step = n * 0.618;

	for (step = step ? step : 1; divisor(step, n) != 1; step++)
		;
	return step;
}
