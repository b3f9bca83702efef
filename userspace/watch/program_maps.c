// SPDX-License-Identifier: GPL-2.0
/* Reads what code processes have mapped, and opens its files, also in mount namespaces of their own. */
#include "userspace/watch/program_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Enough for the programs of a busy machine; what is beyond has no names. */
enum { PROGRAMS_MOST = 4096, FILES_MOST = 900, CODE_MOST = 8192, LINE_BYTES = 4096 + 128, PATH_MOST = 4096 + 64 };

/* To ask one takes some 15 us. */
enum { ASKED_AT_ONCE = 256 };

/* Room for one more, or NULL. */
static void *grown(void *items, int count, int *room, int most, size_t size)
{
	int more = *room ? 2 * *room : 16;
	void *new;

	if (count < *room)
		return items;
	if (count >= most)
		return NULL;
	new = realloc(items, more * size);
	if (new)
		*room = more;
	return new;
}

/* By the time it started, of which /proc has hundredths of a second. One that nobody waited for has let go of its memory. */
static bool runs(uint32_t tgid, uint64_t started_ns)
{
	const uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	unsigned long long ticks = 0;
	char path[64], line[1024], state, *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
	file = fopen(path, "re");
	if (!file)
		return false;
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			  &state, &ticks) != 2)
		return false;
	return state != 'Z' && ticks == started_ns / tick_ns;
}

/* Opens a plain file and nothing that acts when it is opened. */
static int open_plain(const char *path, int flags, uint64_t inode)
{
	int at = open(path, O_PATH | O_CLOEXEC | flags), fd = -1;
	struct stat state;
	char self[64];

	if (at < 0)
		return -1;
	if (!fstat(at, &state) && S_ISREG(state.st_mode) && (!inode || state.st_ino == inode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
		fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	close(at);
	return fd;
}

/* The file that is mapped, whatever has its name by now; where that is not allowed, what has its name if it is the
 * same file. */
static int open_mapped(uint32_t tgid, const struct code *c, const char *path, uint64_t inode)
{
	char name[PATH_MOST];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, tgid, c->start, c->end);
	fd = open_plain(name, 0, 0);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/%u/root%s", tgid, path);
	return open_plain(name, 0, inode);
}

static void let_go(int *fd, struct stat *was)
{
	if (*fd < 0)
		return;
	if (fstat(*fd, was))
		*was = (struct stat){};
	close(*fd);
	*fd = -1;
}

/* The number of an inode may be used again: the time of its last change is not. -1 if it is another file. */
static int if_same(int fd, const struct stat *was)
{
	struct stat is;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &is) && is.st_dev == was->st_dev && is.st_ino == was->st_ino && is.st_size == was->st_size &&
	    is.st_ctim.tv_sec == was->st_ctim.tv_sec && is.st_ctim.tv_nsec == was->st_ctim.tv_nsec)
		return fd;
	close(fd);
	return -1;
}

/* The last one that had these numbers. */
static int file_find(const struct program_maps *all, uint32_t device, uint64_t inode)
{
	for (int i = all->file_count - 1; i >= 0; i--)
		if (all->files[i].inode == inode && all->files[i].device == device)
			return i;
	return -1;
}

/* The kernel writes so behind the name of a file that has none any more. */
static bool cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);

	if (length <= strlen(deleted) || strcmp(path + length - strlen(deleted), deleted))
		return false;
	path[length - strlen(deleted)] = '\0';
	return true;
}

static int file_note(struct program_maps *all, uint32_t tgid, const struct code *c, uint32_t device, uint64_t inode,
		     char *path)
{
	bool replaced = cut_deleted(path);
	int at = file_find(all, device, inode);
	struct code_file *files;

	if (at >= 0 && all->files[at].let_go) {
		all->files[at].fd = if_same(open_mapped(tgid, c, path, inode), &all->files[at].was);
		all->files[at].let_go = all->files[at].fd < 0;
	}
	if (at >= 0 && !all->files[at].let_go) {
		all->files[at].module.replaced |= replaced;
		return at;
	}
	files = grown(all->files, all->file_count, &all->file_room, FILES_MOST, sizeof(*files));
	if (!files)
		return -1;
	all->files = files;
	files += all->file_count;
	*files = (struct code_file){ .inode = inode, .device = device, .apart = -1 };
	files->fd = open_mapped(tgid, c, path, inode);
	files->module.replaced = replaced;
	files->module.unread = files->fd < 0;
	snprintf(files->module.path, sizeof(files->module.path), "%s", path);
	return all->file_count++;
}

/* 7f1c-7f1d r-xp 00026000 fe:01 1234    /usr/lib/libc.so.6 */
static void line_note(struct program_maps *all, struct program *p, char *line)
{
	unsigned int major, minor;
	uint64_t inode;
	struct code c = { .file = -1 }, *more;
	char executable;
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64 " %x:%x %" SCNu64 " %n", &c.start, &c.end,
		   &executable, &c.offset, &major, &minor, &inode, &path) < 7 || executable != 'x')
		return;
	if (inode && path && line[path] == '/')
		c.file = file_note(all, p->tgid, &c, makedev(major, minor), inode, line + path);
	more = grown(p->code, p->count, &p->room, CODE_MOST, sizeof(*more));
	if (!more)
		return;
	p->code = more;
	more[p->count++] = c;
}

/* In the process' own mount namespace and by its own number there; of its own user, as perf wants it. */
static void perf_map_note(struct program *p)
{
	char path[128], line[256], *last = NULL;
	struct stat process, state;
	FILE *file;
	int fd;

	p->number = p->tgid;
	snprintf(path, sizeof(path), "/proc/%u/status", p->tgid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			p->number = strtoul(last, NULL, 10);
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%u", p->tgid);
	if (stat(path, &process))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root%s%u.map", p->tgid, "/tmp/perf-", p->number);
	fd = open_plain(path, O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	if (fstat(fd, &state) || state.st_uid != process.st_uid) {
		close(fd);
		return;
	}
	if (p->perf_map >= 0)
		close(p->perf_map);
	p->perf_map = fd;
}

/* Debian's packages of debug symbols lie there. Of this machine's own tree: a link in a container's would lead anywhere. */
void program_maps_open_apart(struct code_file *file, const unsigned char *build_id, int bytes)
{
	char path[sizeof("/usr/lib/debug/.build-id//.debug") + 2 * BUILD_ID_BYTES], *at = path;

	file->apart_sought = true;
	if (bytes < 2 || bytes > BUILD_ID_BYTES)
		return;
	at += sprintf(at, "/usr/lib/debug/.build-id/%02x/", build_id[0]);
	for (int i = 1; i < bytes; i++)
		at += sprintf(at, "%02x", build_id[i]);
	strcpy(at, ".debug");
	file->apart = open_plain(path, 0, 0);
}

static struct program *program_add(struct program_maps *all, uint32_t tgid, uint64_t started_ns)
{
	struct program *more = (struct program *)program_maps_find(all, tgid, started_ns);

	if (more)
		return more;
	more = grown(all->programs, all->program_count, &all->program_room, PROGRAMS_MOST, sizeof(*more));
	if (!more)
		return NULL;
	all->programs = more;
	more += all->program_count++;
	*more = (struct program){ .tgid = tgid, .started_ns = started_ns, .perf_map = -1 };
	return more;
}

/* What it has now stands before what it had, and that stays: stacks may be of before. */
static void put_newest_first(struct program *p, int before)
{
	struct code *old = before ? malloc(before * sizeof(*old)) : NULL;
	int kept = 0, now = p->count - before;

	if (!old)
		return;
	for (int i = 0; i < before; i++) {
		bool again = false;

		for (int k = before; k < p->count; k++)
			again |= !memcmp(&p->code[i], &p->code[k], sizeof(*old));
		if (!again)
			old[kept++] = p->code[i];
	}
	memmove(p->code, p->code + before, now * sizeof(*old));
	memcpy(p->code + now, old, kept * sizeof(*old));
	p->count = now + kept;
	free(old);
}

void program_maps_look(struct program_maps *all, uint32_t tgid, uint64_t started_ns)
{
	char path[64], *line = malloc(LINE_BYTES);
	struct program *p;
	FILE *file;
	int before;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	file = line ? fopen(path, "re") : NULL;
	/* The file belongs to the process that has the number now, also once another one has it. */
	p = file && runs(tgid, started_ns) ? program_add(all, tgid, started_ns) : NULL;
	before = p ? p->count : 0;
	while (p && fgets(line, LINE_BYTES, file))
		line_note(all, p, line);
	if (file)
		fclose(file);
	free(line);
	if (!p)
		return;
	put_newest_first(p, before);
	perf_map_note(p);
}

/* By its name in this process' own mount namespace. */
static void perf_map_again(struct program *p)
{
	char path[64];

	snprintf(path, sizeof(path), "%s%u.map", "/tmp/perf-", p->number);
	if (p->perf_map < 0 && p->perf_map_was.st_ino)
		p->perf_map = if_same(open_plain(path, O_NOFOLLOW, 0), &p->perf_map_was);
}

void program_maps_refresh(struct program_maps *all)
{
	for (int i = 0; i < all->program_count; i++)
		if (runs(all->programs[i].tgid, all->programs[i].started_ns))
			perf_map_note(&all->programs[i]);
		else
			perf_map_again(&all->programs[i]);
	for (int i = 0; i < all->file_count; i++)
		if (all->files[i].let_go && all->files[i].fd < 0)
			all->files[i].fd = if_same(open_plain(all->files[i].module.path, 0, 0), &all->files[i].was);
}

/* What no program that runs has mapped. */
static void files_let_go(struct program_maps *all)
{
	bool *mapped = calloc(all->file_count + 1, sizeof(*mapped));

	for (int i = 0; mapped && i < all->program_count; i++)
		for (int k = 0; !all->programs[i].ended && k < all->programs[i].count; k++)
			if (all->programs[i].code[k].file >= 0)
				mapped[all->programs[i].code[k].file] = true;
	for (int i = 0; mapped && i < all->file_count; i++) {
		struct code_file *file = &all->files[i];

		if (mapped[i] || file->fd < 0)
			continue;
		let_go(&file->fd, &file->was);
		file->let_go = true;
		if (file->apart >= 0)
			close(file->apart);
		file->apart = -1;
		file->apart_sought = false;
	}
	free(mapped);
}

void program_maps_let_go(struct program_maps *all)
{
	bool ended = false;

	for (int i = 0; i < all->program_count && i < ASKED_AT_ONCE; i++) {
		struct program *p = &all->programs[all->asked++ % all->program_count];

		if (p->ended || runs(p->tgid, p->started_ns))
			continue;
		p->ended = ended = true;
		let_go(&p->perf_map, &p->perf_map_was);
	}
	if (ended)
		files_let_go(all);
}

const struct program *program_maps_find(const struct program_maps *all, uint32_t tgid, uint64_t started_ns)
{
	for (int i = all->program_count - 1; i >= 0; i--)
		if (all->programs[i].tgid == tgid && all->programs[i].started_ns == started_ns)
			return &all->programs[i];
	return NULL;
}

const struct code *program_code_at(const struct program *p, uint64_t address)
{
	for (int i = 0; i < p->count; i++)
		if (address >= p->code[i].start && address < p->code[i].end)
			return &p->code[i];
	return NULL;
}
