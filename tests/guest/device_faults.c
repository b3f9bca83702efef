// SPDX-License-Identifier: GPL-2.0
/*
 * Starts a run of trace_run, and changes a device of its path for as long as its ends send.
 *
 * usage: device_faults flap|mtu|narrow server|client|router DEVICE FILE COMMAND [ARG...]
 *   flap    takes the device down and up
 *   mtu     gives the device another MTU
 *   narrow  gives the route to the device's link a smaller MTU
 *   server, client, router: in whose network namespace the device is; a router is of path forward
 * Leaves in FILE how many changes the last try of the run met. Ends with the status of the run.
 *
 * A guest gets little time: a shell that starts a program for each change would hardly make any.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A link that falls often would carry nothing in a guest that gets little time. */
enum { FLAPS = 8, DOWN_MS = 20, UP_MS = 400, PAUSE_MS = 100, LOOK_MS = 10 };
/* An emulated NIC starts anew with each MTU, loses what it holds, and takes a second for it. */
enum { NIC_PAUSE_MS = 1000 };
enum { PIDS_MAX = 64, PATH_BYTES = 512, LINE_BYTES = 256 };

struct ends {
	pid_t holder;	/* the process of trace_run that started both */
	pid_t server, client;
};

struct device {
	char name[IFNAMSIZ];
	int fd;			/* a socket in its namespace, by which requests reach it; -1: none */
	char link[64];		/* the subnet of its link, as ip(8) writes it */
	FILE *ip;		/* ip(8) in its namespace, for what no ioctl does; or NULL */
};

static int home_ns;

static void pause_ms(int ms)
{
	usleep(ms * 1000);
}

static void die(const char *what)
{
	fprintf(stderr, "device_faults: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int children_of(pid_t parent, pid_t *pids)
{
	char path[PATH_BYTES];
	int count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "r");
	while (file && count < PIDS_MAX && fscanf(file, "%d", &pids[count]) == 1)
		count++;
	if (file)
		fclose(file);
	return count;
}

/* The second word of its command line: "server" or "client" for an end. */
static void role_of(pid_t pid, char *role, size_t size)
{
	char path[PATH_BYTES], words[LINE_BYTES] = "";
	FILE *file;
	size_t length = 0;

	*role = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "r");
	if (!file)
		return;
	length = fread(words, 1, sizeof(words) - 1, file);
	fclose(file);
	if (strlen(words) < length)
		snprintf(role, size, "%s", words + strlen(words) + 1);
}

/* An end has threads once it was released: then the gate is open. */
static bool has_threads(pid_t pid)
{
	char path[PATH_BYTES];
	struct stat tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return !stat(path, &tasks) && tasks.st_nlink > 3;	/* two names of its own, a task's each */
}

static bool find_ends(pid_t run, struct ends *ends)
{
	pid_t holders[PIDS_MAX], pids[PIDS_MAX];
	int holder_count = children_of(run, holders);
	char role[16];

	memset(ends, 0, sizeof(*ends));
	for (int i = 0; i < holder_count; i++) {
		int count = children_of(holders[i], pids);

		for (int j = 0; j < count; j++) {
			role_of(pids[j], role, sizeof(role));
			if (!has_threads(pids[j]))
				continue;
			ends->holder = holders[i];
			if (!strcmp(role, "server"))
				ends->server = pids[j];
			if (!strcmp(role, "client"))
				ends->client = pids[j];
		}
	}
	return ends->server && ends->client;
}

static int namespace_of(pid_t pid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static ino_t inode_of(int fd)
{
	struct stat stat;

	return fd < 0 || fstat(fd, &stat) ? 0 : stat.st_ino;
}

/* Is this descriptor a network namespace which neither this process nor an end is in? */
static bool is_router(int fd, const char *target, const struct ends *ends)
{
	int server = namespace_of(ends->server), client = namespace_of(ends->client);
	ino_t inode = inode_of(fd);
	bool found = !strncmp(target, "net:[", 5) && inode && inode != inode_of(home_ns) &&
		     inode != inode_of(server) && inode != inode_of(client);

	close(server);
	close(client);
	return found;
}

/* The namespace that only a descriptor of the run holds. */
static int namespace_of_router(const struct ends *ends)
{
	char folder[64], path[PATH_BYTES], target[64];
	struct dirent *entry;
	int found = -1;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", ends->holder);
	files = opendir(folder);
	while (files && found < 0 && (entry = readdir(files))) {
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 5)
			continue;
		target[length] = '\0';
		if (strncmp(target, "net:[", 5))
			continue;
		found = open(path, O_RDONLY | O_CLOEXEC);
		if (!is_router(found, target, ends)) {
			close(found);
			found = -1;
		}
	}
	if (files)
		closedir(files);
	return found;
}

/* Reads the subnet of the device's link from the routes of the present namespace. */
static void read_link(struct device *device)
{
	char line[LINE_BYTES], name[LINE_BYTES], text[INET_ADDRSTRLEN];
	unsigned int subnet, gateway, mask;
	FILE *routes = fopen("/proc/thread-self/net/route", "r");

	*device->link = '\0';
	while (routes && fgets(line, sizeof(line), routes)) {
		if (sscanf(line, "%s %x %x %*x %*d %*d %*d %x", name, &subnet, &gateway, &mask) != 4 ||
		    strcmp(name, device->name) || gateway || !mask)
			continue;
		inet_ntop(AF_INET, &subnet, text, sizeof(text));
		snprintf(device->link, sizeof(device->link), "%s/%d", text, __builtin_popcount(mask));
	}
	if (routes)
		fclose(routes);
}

/* Opens what changes the device; the socket and ip(8) stay in its namespace. */
static bool device_open(struct device *device, const char *where, bool by_ip, const struct ends *ends)
{
	int ns = !strcmp(where, "router") ? namespace_of_router(ends) :
		 namespace_of(!strcmp(where, "server") ? ends->server : ends->client);

	device->fd = -1;
	device->ip = NULL;
	if (ns < 0 || setns(ns, CLONE_NEWNET)) {
		close(ns);
		return false;
	}
	close(ns);
	device->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	read_link(device);
	/* By its path: a shell of busybox would take its own. */
	if (by_ip)
		device->ip = popen("exec /bin/ip -force -batch - 2>/dev/null", "we");
	if (setns(home_ns, CLONE_NEWNET))
		die("cannot return to my network namespace");
	return device->fd >= 0 && (!by_ip || (device->ip && *device->link));
}

static void device_close(struct device *device)
{
	if (device->fd >= 0)
		close(device->fd);
	if (device->ip)
		pclose(device->ip);
}

static bool set_up(const struct device *device, bool up)
{
	struct ifreq request = {};

	strcpy(request.ifr_name, device->name);
	if (ioctl(device->fd, SIOCGIFFLAGS, &request))
		return false;
	request.ifr_flags = up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
	return !ioctl(device->fd, SIOCSIFFLAGS, &request);
}

static bool flap(const struct device *device, int count)
{
	bool changed;

	if (count >= FLAPS) {
		pause_ms(PAUSE_MS);
		return false;
	}
	changed = set_up(device, false);
	pause_ms(DOWN_MS);
	changed = set_up(device, true) && changed;
	pause_ms(UP_MS);
	return changed;
}

static bool change_mtu(const struct device *device, int count)
{
	static const int mtus[] = { 576, 1500, 9000, 1300 };
	struct ifreq request = { .ifr_mtu = mtus[count % 4] };
	bool changed;

	strcpy(request.ifr_name, device->name);
	changed = !ioctl(device->fd, SIOCSIFMTU, &request);
	pause_ms(strncmp(device->name, "eth", 3) ? PAUSE_MS : NIC_PAUSE_MS);
	return changed;
}

/* Shrinks step by step, so that the router refuses what passed before. The MTU of its emulated NIC
 * stays. */
static bool narrow(const struct device *device, int count)
{
	bool changed = fprintf(device->ip, "route replace %s dev %s mtu %d\n", device->link, device->name,
			       count < 23 ? 1460 - count * 40 : 580) > 0 && !fflush(device->ip);

	pause_ms(PAUSE_MS);
	return changed;
}

static const struct fault {
	const char *name;
	bool (*change)(const struct device *device, int count);
	bool by_ip;
} faults[] = {
	{ "flap", flap, false }, { "mtu", change_mtu, false }, { "narrow", narrow, true },
};

static const struct fault *fault_named(const char *name)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (!strcmp(faults[i].name, name))
			return &faults[i];
	fprintf(stderr, "device_faults: unknown fault '%s': take flap, mtu or narrow\n", name);
	exit(2);
}

static void keep(const char *file, int count)
{
	FILE *out = fopen(file, "w");

	if (!out || fprintf(out, "%d\n", count) < 0 || fclose(out))
		die(file);
}

/* Changes the device as long as this server runs. */
static void change_device(const struct fault *fault, const struct device *device, pid_t server,
			  const char *file)
{
	int count = 0;

	while (has_threads(server)) {
		count += fault->change(device, count);
		keep(file, count);
	}
}

/* Under SCHED_FIFO a run that keeps a processor busy lets nobody of its own priority in. */
static void run_below_faults(void)
{
	struct sched_param own;

	if (sched_getscheduler(0) != SCHED_FIFO || sched_getparam(0, &own))
		return;
	own.sched_priority--;
	if (sched_setparam(0, &own))
		die("cannot lower the priority of the run");
}

static pid_t start(char **command)
{
	pid_t run = fork();

	if (run < 0)
		die("fork");
	if (run)
		return run;
	run_below_faults();
	execvp(command[0], command);
	die(command[0]);
	return -1;
}

int main(int argc, char **argv)
{
	struct device device = { .fd = -1 };
	const struct fault *fault;
	struct ends ends;
	int status;
	pid_t run;

	if (argc < 6) {
		fprintf(stderr, "usage: device_faults FAULT WHERE DEVICE FILE COMMAND [ARG...]\n");
		return 2;
	}
	fault = fault_named(argv[1]);
	snprintf(device.name, sizeof(device.name), "%s", argv[3]);
	home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	keep(argv[4], 0);
	run = start(argv + 5);
	while (!waitpid(run, &status, WNOHANG)) {
		if (find_ends(run, &ends) && device_open(&device, argv[2], fault->by_ip, &ends))
			change_device(fault, &device, ends.server, argv[4]);
		device_close(&device);
		device.fd = -1;
		device.ip = NULL;
		pause_ms(LOOK_MS);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
