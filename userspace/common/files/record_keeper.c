// SPDX-License-Identifier: GPL-2.0
/* Forks the process that stays root to name the record and to put settings back. */
#include "userspace/common/files/record_keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"

/* What root needs to name files: in folders of other users, and in place of their files. */
static const uint64_t powers = 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER | 1ull << CAP_NET_ADMIN;

/* It waits for the end of the run, so it must not end before. */
static void become_deaf(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	setsid();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_IGN);
}

struct answer {
	int32_t err;
	bool spared;
};

static void serve(int line, const struct record_file *file)
{
	struct answer answer = {};
	ssize_t got;
	char word;

	while ((got = read(line, &word, 1))) {
		if (got < 0 && errno == EINTR)
			continue;
		answer.err = got < 0 ? -EIO : record_file_name(file, &answer.spared);
		if (got < 0 || write(line, &answer, sizeof(answer)) != sizeof(answer))
			return;
	}
}

int keeper_start(struct keeper *k, const struct record_file *file, void (*at_end)(void *arg), void *arg,
		 int descriptor)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	k->pid = fork();
	if (!k->pid) {
		prctl(PR_SET_NAME, "record-keeper");
		become_deaf();
		if (confine_descriptors((int[]){ STDERR_FILENO, ends[1], fileno(file->file),
						 file->folder, descriptor }, 5) ||
		    confine_root_but(powers) || confine_syscalls(CONFINE_KEEP))
			_exit(1);
		serve(ends[1], file);
		at_end(arg);
		_exit(0);
	}
	close(ends[1]);
	k->line = ends[0];
	if (k->pid > 0)
		return 0;
	k->pid = 0;
	close(ends[0]);
	return -EAGAIN;
}

int keeper_publish(const struct keeper *k, struct record_file *file)
{
	int err = record_file_finish(file);
	struct answer answer;

	if (!err && file->nameless) {
		err = -EIO;
		if (write(k->line, "n", 1) == 1 &&
		    read(k->line, &answer, sizeof(answer)) == sizeof(answer)) {
			err = answer.err;
			file->spared = answer.spared;
		}
	}
	record_file_abandon(file);
	return err;
}

void keeper_end(struct keeper *k)
{
	if (k->pid <= 0)
		return;
	close(k->line);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}
