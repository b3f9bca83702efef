// SPDX-License-Identifier: GPL-2.0
/* Finds programs in the system's own folders and executes them with a clean environment. */
#include "userspace/common/system/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"

enum { HELPER_PATH_BYTES = 64, HELPER_EXTRA = 4 };

static bool find(const char *name, char path[HELPER_PATH_BYTES])
{
	static const char *const folders[] = {
		"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/lib/openssh", "/usr/libexec/openssh",
		"/usr/lib/ssh",
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(path, HELPER_PATH_BYTES, "%s/%s", folders[i], name);

		if (bytes < HELPER_PATH_BYTES && !access(path, X_OK))
			return true;
	}
	return false;
}

bool helper_exists(const char *name)
{
	char path[HELPER_PATH_BYTES];

	return find(name, path);
}

int helper_become(const char *const *argv, const int *extra, int count)
{
	static char *const environment[] = {
		"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL,
	};
	int keep[3 + HELPER_EXTRA] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO }, err;
	char path[HELPER_PATH_BYTES];

	if (!find(argv[0], path))
		return -ENOENT;
	if (count > HELPER_EXTRA)
		return -E2BIG;
	for (int i = 0; i < count; i++) {
		keep[3 + i] = extra[i];
		if (fcntl(extra[i], F_SETFD, 0))
			return -errno;
	}
	err = confine_descriptors(keep, 3 + count);
	if (err)
		return err;
	execve(path, (char *const *)argv, environment);
	return -errno;
}
