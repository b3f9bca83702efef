// SPDX-License-Identifier: GPL-2.0
/* Tells the process that prints for a watch what it found, and waits for its end. */
#include "userspace/watch/report/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/report/parts_json.h"

static struct reader *taken;

static void end_at_exit(void)
{
	reader_end(taken);
}

void reader_take(struct reader *reader, int *argc, char ***argv)
{
	int fd, pid;

	*reader = (struct reader){};
	if (*argc < 3 || strcmp((*argv)[1], "--reader") || sscanf((*argv)[2], "%d,%d", &fd, &pid) != 2)
		return;
	reader->far = fd == STDOUT_FILENO;
	/* The command that is watched is not to hold it open. */
	if (!reader->far && fcntl(fd, F_SETFD, FD_CLOEXEC))
		return;
	if (!(reader->out = fdopen(fd, "w")))
		return;
	reader->keys = reader->far ? STDIN_FILENO : fd;
	reader->pid = pid;
	/* The file has no name any more that ps could show. */
	if (reader->far)
		prctl(PR_SET_NAME, "copyscope");
	taken = reader;
	atexit(end_at_exit);
	(*argv)[2] = reader->far ? "copyscope-collect" : (*argv)[0];
	*argv += 2;
	*argc -= 2;
}

int reader_tell(struct reader *reader, json_t *o)
{
	return json_write_line(o, reader->out);
}

int reader_key(struct reader *reader)
{
	struct pollfd typed = { .fd = reader->keys, .events = POLLIN };
	unsigned char key;

	if (poll(&typed, 1, 0) <= 0)
		return 0;
	return read(reader->keys, &key, 1) == 1 ? key : -1;
}

bool reader_end(struct reader *reader)
{
	int status = 0;

	if (reader->out)
		fclose(reader->out);
	while (reader->pid && waitpid(reader->pid, &status, 0) < 0 && errno == EINTR)
		;
	*reader = (struct reader){};
	return !status;
}
