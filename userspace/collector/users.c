// SPDX-License-Identifier: GPL-2.0
/*
 * Users and groups by /etc/passwd and /etc/group alone, under the names of glibc's functions, for a static program.
 *
 * glibc's own ask what /etc/nsswitch.conf names, and load a library for it, which must be of the version that the
 * program was linked with: on another system it crashes. A user whom a network service knows has a number here.
 */
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define USERS  "/etc/passwd"
#define GROUPS "/etc/group"

static FILE *users;	/* what getpwent() reads on */

void setpwent(void)
{
	if (users)
		rewind(users);
}

void endpwent(void)
{
	if (users)
		fclose(users);
	users = NULL;
}

struct passwd *getpwent(void)
{
	if (!users)
		users = fopen(USERS, "re");
	return users ? fgetpwent(users) : NULL;
}

/* The first one of that name or, without a name, of that number; it stays until the next call. */
static struct passwd *find_user(const char *name, uid_t uid)
{
	FILE *file = fopen(USERS, "re");
	struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == uid)
			break;
	if (file)
		fclose(file);
	return user;
}

struct passwd *getpwnam(const char *name)
{
	return find_user(name, 0);
}

struct passwd *getpwuid(uid_t uid)
{
	return find_user(NULL, uid);
}

struct group *getgrgid(gid_t gid)
{
	FILE *file = fopen(GROUPS, "re");
	struct group *group = NULL;

	while (file && (group = fgetgrent(file)) && group->gr_gid != gid)
		;
	if (file)
		fclose(file);
	return group;
}

static bool is_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

int initgroups(const char *name, gid_t own)
{
	gid_t all[NGROUPS_MAX] = { own };
	FILE *file = fopen(GROUPS, "re");
	struct group *group;
	size_t count = 1;

	while (file && count < NGROUPS_MAX && (group = fgetgrent(file)))
		if (group->gr_gid != own && is_member(group, name))
			all[count++] = group->gr_gid;
	if (file)
		fclose(file);
	return setgroups(count, all);
}
