// SPDX-License-Identifier: GPL-2.0
/* What a confined process cannot do any more, tried in a child that does it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/common/system/confine.h"

enum { STATUS_BYTES = 4096 };

/* Runs @act in a child; its status as of waitpid(). A sanitizer's own calls are allowed, and so are many others. */
static int status_of(int (*act)(void))
{
	int status;
	pid_t pid;

#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	pid = fork();
	if (!pid)
		_exit(act());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert_fine(int (*act)(void))
{
	assert_int_equal(status_of(act), 0);
}

/* Memory of all sizes, a file that is not opened, output: what glibc does by itself. */
static int live(void)
{
	char *volatile text;

	for (size_t bytes = 16; bytes < 64 << 20; bytes *= 8) {
		text = malloc(bytes);
		if (!text)
			return 3;
		memset(text, 1, bytes);
		text = realloc(text, 3 * bytes);
		free(text);
	}
	/* malloc names its memory if GLIBC_TUNABLES has glibc.mem.decorate_maps (2.39). */
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0, 0, NULL);
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		return 4;
	return printf("%s", "") || fflush(stdout);
}

static int execute(void)
{
	char *const argv[] = { "true", NULL };

	execv("/bin/true", argv);
	return 1;
}

static int have_child(void)
{
	return fork() < 0;
}

static int write_file(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR, 0600) < 0;
}

static int make_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

static int signal_others(void)
{
	return tgkill(getppid(), getppid(), 0);
}

static int open_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) < 0;
}

static int open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0;
}

/* The kernel may refuse it, but the list does not. */
static int have_ring(void)
{
	syscall(SYS_io_uring_setup, 0, NULL);
	return 0;
}

static void *nothing(void *argument)
{
	return argument;
}

static int start_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL);
}

#define ROLE(role) (1u << CONFINE_##role)
#define ENDS (ROLE(WORKLOAD) | ROLE(RINGS))
#define EVERY ((1u << CONFINE_ROLES) - 1)

static const struct {
	const char *name;
	int (*act)(void);
	unsigned int may;	/* the roles that may; all others die of it */
} acts[] = {
	{ "live", live, EVERY },
	{ "execute", execute, 0 },
	/* Connections of a client may be processes. */
	{ "have a child", have_child, ENDS },
	{ "write a file", write_file, 0 },
	{ "make code", make_code, 0 },
	{ "signal others", signal_others, 0 },
	{ "open a packet socket", open_packet_socket, 0 },
	{ "start a thread", start_thread, ROLE(MEASURE) | ENDS },
	{ "open a socket", open_socket, ENDS },
	{ "have a ring", have_ring, ROLE(RINGS) },
};

/* The role and the act of the child that is next. */
static enum confine_role role;
static int (*act)(void);

static int confined(void)
{
	return confine_syscalls(role) ? 2 : act();
}

TEST(each_role_does_what_it_is_for_and_dies_of_all_else)
{
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		for (role = 0; role < CONFINE_ROLES; role++) {
			int status;

			act = acts[i].act;
			status = status_of(confined);
			if (acts[i].may & 1u << role ? status != 0 : !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
				fail_msg("%s, role %d: status %x", acts[i].name, role, status);
		}
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int close_most(void)
{
	int keep[] = { 40, -1, 1, 20, 40, 2 };

	for (int fd = 3; fd < 50; fd++)
		dup2(2, fd);
	if (confine_descriptors(keep, 6))
		return 2;
	for (int fd = 0; fd < 50; fd++)
		if (is_open(fd) != (fd == 1 || fd == 2 || fd == 20 || fd == 40))
			return 3;
	return 0;
}

static int close_all(void)
{
	return confine_descriptors(NULL, 0) || is_open(0) || is_open(1) || is_open(2);
}

TEST(test_only_named_descriptors_stay)
{
	assert_fine(close_most);
	assert_fine(close_all);
}

/* The value of one line of our own /proc/self/status, which has to be open before. */
static bool line_is(const char *status, const char *key, const char *value)
{
	const char *line = strstr(status, key);

	return line && !strncmp(line + strlen(key), value, strlen(value));
}

/* The system user copyscope, or else one that the system does not know; no user that others have, too. */
static bool is_ours(uid_t uid)
{
	const struct passwd *ours = getpwnam("copyscope");

	return ours ? uid == ours->pw_uid : uid >= 61184 && uid < 65520 && !getpwuid(uid) && !getgrgid(uid);
}

static int drop_all(void)
{
	char four[64];
	char status[STATUS_BYTES] = {};
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (confine_for_good() || read(fd, status, sizeof(status) - 1) < 0)
		return 2;
	snprintf(four, sizeof(four), "%1$u\t%1$u\t%1$u\t%1$u\n", getuid());
	if (!is_ours(getuid()) || !line_is(status, "Uid:\t", four) || !line_is(status, "Gid:\t", four) ||
	    !line_is(status, "Groups:\t", " \n") || !line_is(status, "NoNewPrivs:\t", "1\n"))
		return 3;
	for (const char *const *set = (const char *const[]){ "CapInh:\t", "CapPrm:\t", "CapEff:\t",
							      "CapBnd:\t", "CapAmb:\t", NULL }; *set; set++)
		if (!line_is(status, *set, "0000000000000000\n"))
			return 4;
	return prctl(PR_GET_SECUREBITS) ? 0 : 5;
}

static int drop_but_one(void)
{
	cap_flag_value_t kill_set, admin_set;
	cap_t caps;

	if (confine_for_good_but(1ull << CAP_KILL))
		return 2;
	caps = cap_get_proc();
	cap_get_flag(caps, CAP_KILL, CAP_EFFECTIVE, &kill_set);
	cap_get_flag(caps, CAP_SYS_ADMIN, CAP_PERMITTED, &admin_set);
	cap_free(caps);
	return kill_set && !admin_set && is_ours(getuid()) && confine_for_good() == 0 ? 0 : 3;
}

static int keep_death_signal(void)
{
	int number = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return confine_for_good() || prctl(PR_GET_PDEATHSIG, &number) || number != SIGKILL;
}

TEST(test_root_is_gone_for_good)
{
	if (geteuid())
		skip();
	assert_fine(drop_all);
	assert_fine(drop_but_one);
	assert_fine(keep_death_signal);
}
