// SPDX-License-Identifier: GPL-2.0
/* Finds the user who called sudo, and becomes that user. */
#include "userspace/watch/command/caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/common/numbers.h"

/* Sets @id from a variable of sudo; false if there is none. */
static bool id_in(const char *variable, unsigned int *id, int *err)
{
	const char *value = getenv(variable);
	uint64_t number = 0;

	*err = value ? whole_parse(value, NUMBER_PLAIN, 0, UINT32_MAX - 1, &number) : 0;
	if (*err)
		fprintf(stderr, "copyscope watch: %s is '%s', which is no user or group: give --as-root, or "
			"unset it\n", variable, foreign(value));
	*id = number;
	return value && !*err;
}

int caller_find(struct caller *caller, bool as_root)
{
	const struct passwd *found;
	int err = 0;

	*caller = (struct caller){};
	if (as_root || geteuid() || !id_in("SUDO_UID", &caller->uid, &err))
		return err;
	found = getpwuid(caller->uid);
	caller->other = caller->uid;
	if (!id_in("SUDO_GID", &caller->gid, &err))
		caller->gid = found ? found->pw_gid : caller->uid;
	if (err || !found)
		return err;
	snprintf(caller->name, sizeof(caller->name), "%s", found->pw_name);
	snprintf(caller->home, sizeof(caller->home), "%s", found->pw_dir);
	snprintf(caller->shell, sizeof(caller->shell), "%s", found->pw_shell);
	return 0;
}

/* A user without an entry in the list of users has one group. */
static int become(const struct caller *c)
{
	int err = *c->name ? initgroups(c->name, c->gid) : setgroups(1, &c->gid);

	return err || setresgid(c->gid, c->gid, c->gid) || setresuid(c->uid, c->uid, c->uid) ? -errno : 0;
}

int caller_become(const struct caller *c)
{
	static const char *const of_sudo[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND",
					       "SUDO_HOME" };
	int err;

	if (!c->other)
		return 0;
	err = become(c);
	if (err) {
		fprintf(stderr, "copyscope watch: cannot become user %u, who called sudo: %s; give "
			"--as-root\n", c->uid, strerror(-err));
		return err;
	}
	for (size_t i = 0; i < sizeof(of_sudo) / sizeof(*of_sudo); i++)
		unsetenv(of_sudo[i]);
	if (!*c->name)
		return 0;
	setenv("HOME", c->home, 1);
	setenv("USER", c->name, 1);
	setenv("LOGNAME", c->name, 1);
	setenv("SHELL", c->shell, 1);
	return 0;
}
