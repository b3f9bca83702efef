// SPDX-License-Identifier: GPL-2.0
/*
 * Tries to swap out and to move pages that a zero-copy send holds, pages that nothing holds, and the former once they
 * are released.
 *
 * usage: held_pages SWAP
 * SWAP is a block device whose contents are lost: a guest's /dev/ram0. What is moved is taken out of use
 * (MADV_SOFT_OFFLINE), so that this is for a guest that ends afterwards. Prints one line of JSON: of how many pages each
 * kind has, how many left memory and how many lie in another frame.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, PAGES = 64, BYTES = PAGES * PAGE_BYTES, SWAP_BYTES = 32 << 20, QUEUE_BYTES = 4 << 20, TRIES = 3 };
enum { PAGE_OUT = 21, SOFT_OFFLINE = 101 }; /* of madvise() */

static const uint64_t FRAME = (1ULL << 55) - 1; /* of an entry of pagemap; Documentation/admin-guide/mm/pagemap.rst */

struct ends {
	int sender, receiver;
};

static long check(long result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
	return result;
}

/* What mkswap writes: include/linux/swap.h, union swap_header. */
static void swap_on(const char *device)
{
	static char header[PAGE_BYTES];
	const uint32_t version = 1, last_page = SWAP_BYTES / PAGE_BYTES - 1;
	int file = (int)check(open(device, O_WRONLY), device);

	memcpy(header + 1024, &version, sizeof(version));
	memcpy(header + 1024 + sizeof(version), &last_page, sizeof(last_page));
	memcpy(header + PAGE_BYTES - 10, "SWAPSPACE2", 10);
	if (check(write(file, header, sizeof(header)), "write") != sizeof(header))
		errx(1, "%s is too small", device);
	close(file);
	check(swapon(device, 0), "swapon");
}

static char *fresh(void)
{
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	check(madvise(memory, BYTES, MADV_NOHUGEPAGE), "MADV_NOHUGEPAGE");
	memset(memory, 'x', BYTES);
	return memory;
}

static struct ends connected(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = (int)check(socket(AF_INET, SOCK_STREAM, 0), "socket"), one = 1, little = 1, much = QUEUE_BYTES;
	struct ends ends = { .sender = (int)check(socket(AF_INET, SOCK_STREAM, 0), "socket") };
	socklen_t bytes = sizeof(at);

	check(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), "SO_RCVBUF");
	check(setsockopt(ends.sender, SOL_SOCKET, SO_SNDBUFFORCE, &much, sizeof(much)), "SO_SNDBUFFORCE");
	check(setsockopt(ends.sender, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)), "SO_ZEROCOPY");
	check(bind(listener, (struct sockaddr *)&at, bytes), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (struct sockaddr *)&at, &bytes), "getsockname");
	check(connect(ends.sender, (struct sockaddr *)&at, bytes), "connect");
	ends.receiver = (int)check(accept(listener, NULL, NULL), "accept");
	close(listener);
	return ends;
}

static void send_all(int to, const char *memory, int flags)
{
	if (check(send(to, memory, BYTES, flags), "send") != BYTES)
		errx(1, "send took a part alone");
}

/* Read all, and wait until the kernel tells that it gave the memory back. */
static void release(struct ends ends, char *scratch)
{
	char control[256];
	struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd told = { .fd = ends.sender };

	for (long left = 2 * BYTES; left;)
		left -= check(recv(ends.receiver, scratch, (size_t)(left < BYTES ? left : BYTES), 0), "recv");
	do
		check(poll(&told, 1, -1), "poll");
	while (!(told.revents & POLLERR));
	check(recvmsg(ends.sender, &message, MSG_ERRQUEUE), "MSG_ERRQUEUE");
}

static void frames(const char *memory, uint64_t found[PAGES])
{
	int file = (int)check(open("/proc/self/pagemap", O_RDONLY), "pagemap");
	const off_t at = (off_t)((uintptr_t)memory / PAGE_BYTES * sizeof(*found));

	for (int i = 0; i < PAGES; i++)
		*(volatile char *)(memory + (long)i * PAGE_BYTES) += 0;
	if (check(pread(file, found, PAGES * sizeof(*found), at), "pagemap") != PAGES * sizeof(*found))
		errx(1, "pagemap is short");
	close(file);
	for (int i = 0; i < PAGES; i++)
		if (!(found[i] &= FRAME))
			errx(1, "pagemap hides its frames: run it as root");
}

/* A page in the swap cache is in memory, though no address leads there any more. */
static int swapped_out(char *memory)
{
	unsigned char there[PAGES];
	int left = 0;

	for (int i = 0; i < TRIES; i++)
		check(madvise(memory, BYTES, PAGE_OUT), "MADV_PAGEOUT");
	check(mincore(memory, BYTES, there), "mincore");
	for (int i = 0; i < PAGES; i++)
		left += !(there[i] & 1);
	return left;
}

static int moved(char *memory)
{
	uint64_t before[PAGES], after[PAGES];
	int found = 0;

	frames(memory, before);
	/* What the kernel refuses to move is an error of the call: the frames tell. */
	for (int i = 0; i < PAGES; i++)
		madvise(memory + (long)i * PAGE_BYTES, PAGE_BYTES, SOFT_OFFLINE);
	frames(memory, after);
	for (int i = 0; i < PAGES; i++)
		found += before[i] != after[i];
	return found;
}

static void tell(const char *kind, char *memory, const char *end)
{
	int left = swapped_out(memory);

	printf("\"%s\": {\"pages\": %d, \"left\": %d, \"moved\": %d}%s", kind, PAGES, left, moved(memory), end);
}

int main(int argc, char **argv)
{
	char *held, *unheld, *scratch;
	struct ends ends;
	cpu_set_t first;

	if (argc != 2)
		errx(2, "usage: held_pages SWAP");
	/* What this processor faulted in is on its lists, where madvise() looks. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	check(sched_setaffinity(0, sizeof(first), &first), "sched_setaffinity");
	swap_on(argv[1]);
	held = fresh();
	unheld = fresh();
	scratch = fresh();
	ends = connected();
	/* More than the receiver's window: what is sent behind it waits in the sender's queue. */
	send_all(ends.sender, scratch, 0);
	send_all(ends.sender, held, MSG_ZEROCOPY);
	printf("{");
	tell("held", held, ", ");
	tell("unheld", unheld, ", ");
	release(ends, scratch);
	tell("released", held, "}\n");
	return 0;
}
