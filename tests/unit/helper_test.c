// SPDX-License-Identifier: GPL-2.0
/* A helper program is the system's own, whatever PATH says, and gets nothing of its parent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/common/system/helper.h"

enum { SAID_BYTES = 4096, KEPT = 41 };

static char said[SAID_BYTES];

/* What a helper writes to its standard output; its exit status. */
static int run(const char *const *argv, const int *extra, int count)
{
	ssize_t n, used = 0;
	int out[2], status;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		_exit(-helper_become(argv, extra, count));
	}
	close(out[1]);
	while ((n = read(out[0], said + used, SAID_BYTES - 1 - used)) > 0)
		used += n;
	said[used] = '\0';
	close(out[0]);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(test_a_program_in_path_is_not_run)
{
	char folder[] = "/tmp/copyscope-helper-XXXXXX", program[64];
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/true", folder);
	fd = open(program, O_CREAT | O_WRONLY, 0755);
	assert_int_equal(write(fd, "#!/bin/sh\necho hostile\n", 23), 23);
	close(fd);
	setenv("PATH", folder, 1);
	assert_int_equal(run((const char *const[]){ "true", NULL }, NULL, 0), 0);
	assert_string_equal(said, "");
	assert_false(helper_exists("no-such-helper"));
	assert_int_equal(run((const char *const[]){ "no-such-helper", NULL }, NULL, 0), ENOENT);
	unlink(program);
	rmdir(folder);
}

TEST(test_no_variable_of_ours_comes_along)
{
	setenv("IP_HOSTILE", "1", 1);
	assert_int_equal(run((const char *const[]){ "env", NULL }, NULL, 0), 0);
	assert_string_equal(said, "LC_ALL=C\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n");
}

TEST(test_no_descriptor_comes_along_but_what_is_named)
{
	const char *const list[] = { "sh", "-c", "for fd in /proc/self/fd/*; do readlink $fd; done; true", NULL };
	const int kept = KEPT;

	/* Not marked to be closed: a careless program opens them so. */
	assert_true(dup2(open("/etc/shadow", O_RDONLY), 40) == 40 || geteuid());
	assert_int_equal(dup2(open("/etc/passwd", O_RDONLY | O_CLOEXEC), kept), kept);
	assert_int_equal(run(list, NULL, 0), 0);
	assert_null(strstr(said, "shadow"));
	assert_null(strstr(said, "passwd"));
	assert_int_equal(run(list, &kept, 1), 0);
	assert_null(strstr(said, "shadow"));
	assert_non_null(strstr(said, "/etc/passwd\n"));
}
