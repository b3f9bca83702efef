// SPDX-License-Identifier: GPL-2.0
/* Closes descriptors and drops every privilege of root so that no execve returns it. */
#include "userspace/common/system/confine.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Who is not root any more. The user nobody has other processes on most systems, such as workers of nginx,
 * and each of them could stop ours or use up what may be locked. So it is the system user that the package
 * makes, else one that nobody has, of the range from which systemd takes such users. The user nobody is left
 * for a user namespace that has no other.
 */
enum { FIRST_UNUSED = 61184, LAST_UNUSED = 65519, MOST_SYSTEM = 999, NOBODY = 65534 };

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int confine_descriptors(const int *keep, int count)
{
	int *sorted = malloc(sizeof(*sorted) * (count + 1)), err = 0;
	unsigned int from = 0;

	if (!sorted)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		sorted[i] = keep[i];
	qsort(sorted, count, sizeof(*sorted), compare);
	for (int i = 0; i < count && !err; i++) {
		if (sorted[i] < (int)from)
			continue;
		if (sorted[i] > (int)from && close_range(from, sorted[i] - 1, 0))
			err = -errno;
		from = sorted[i] + 1;
	}
	if (!err && close_range(from, UINT_MAX, 0))
		err = -errno;
	free(sorted);
	return err;
}

static int note(struct inherited *all, int fd)
{
	int *grown = realloc(all->descriptors, sizeof(*grown) * (all->count + 1));

	if (!grown)
		return -ENOMEM;
	all->descriptors = grown;
	grown[all->count++] = fd;
	return 0;
}

int confine_note_inherited(struct inherited *all)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int err = folder ? 0 : -errno;

	*all = (struct inherited){};
	while (!err && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(folder))
			err = note(all, fd);
	}
	if (folder)
		closedir(folder);
	return err;
}

void confine_close_inherited(struct inherited *all)
{
	while (all->count)
		close(all->descriptors[--all->count]);
	free(all->descriptors);
	all->descriptors = NULL;
}

/* No program that is executed can have more than this set. */
static int empty_bounding_set(void)
{
	for (int cap = 0;; cap++) {
		int held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (held < 0)
			return 0; /* beyond the last one that this kernel knows */
		if (held && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return -errno;
	}
}

/* From now on uid 0 is a user like any other, for execve and for a change of user. */
static int lock_securebits(void)
{
	const int bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) ? -errno : 0;
}

static int become(uid_t uid, gid_t gid)
{
	return setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? -errno : 0;
}

static int become_nobody(void)
{
	const struct passwd *nobody = getpwnam("nobody");

	return nobody ? become(nobody->pw_uid, nobody->pw_gid) : become(NOBODY, NOBODY);
}

static int become_one_of_ours(void)
{
	const struct passwd *ours = getpwnam("copyscope");
	uid_t uid = FIRST_UNUSED;

	if (ours && ours->pw_uid && ours->pw_uid <= MOST_SYSTEM)
		return become(ours->pw_uid, ours->pw_gid);
	/* The same for each process of a run, which may have to end another one. */
	while (uid < LAST_UNUSED && (getpwuid(uid) || getgrgid(uid)))
		uid++;
	return become(uid, uid);
}

static int become_unprivileged(void)
{
	pid_t parent = getppid();
	int death = 0, err;

	prctl(PR_GET_PDEATHSIG, &death);
	err = setgroups(0, NULL) ? -errno : become_one_of_ours();
	if (err == -EINVAL)
		err = become_nobody();
	if (err)
		return err;
	/* The kernel clears it when the user changes. */
	prctl(PR_SET_PDEATHSIG, death);
	if (death && getppid() != parent)
		raise(death);
	return 0;
}

static bool is_held(cap_t held, cap_value_t cap)
{
	cap_flag_value_t has;

	return !cap_get_flag(held, cap, CAP_PERMITTED, &has) && has == CAP_SET;
}

/* In a container root may lack some of them. */
static int keep_capabilities(uint64_t kept)
{
	cap_t caps = cap_init(), held = cap_get_proc();
	int err = caps && held ? 0 : -errno;

	for (cap_value_t cap = 0; !err && cap < 64; cap++)
		if (kept >> cap & 1 && is_held(held, cap) &&
		    (cap_set_flag(caps, CAP_PERMITTED, 1, &cap, CAP_SET) ||
		     cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_SET)))
			err = -errno;
	if (!err && (cap_set_proc(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		err = -errno;
	cap_free(held);
	cap_free(caps);
	return err;
}

int confine_root_but(uint64_t capabilities)
{
	int err = geteuid() ? 0 : empty_bounding_set();

	if (!err && !geteuid())
		err = lock_securebits();
	/* Setting the inheritable set to nothing empties the ambient one, too. */
	return err ? err : keep_capabilities(capabilities);
}

int confine_for_good_but(uint64_t capabilities)
{
	const uint64_t to_change_user = 1ull << CAP_SETUID | 1ull << CAP_SETGID;
	int err;

	if (geteuid())
		return keep_capabilities(capabilities);
	err = confine_root_but(capabilities | to_change_user);
	if (!err)
		err = become_unprivileged();
	return err ? err : keep_capabilities(capabilities);
}

int confine_for_good(void)
{
	return confine_for_good_but(0);
}
