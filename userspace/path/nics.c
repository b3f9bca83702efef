// SPDX-License-Identifier: GPL-2.0
/* NICs of this machine: which two to borrow, whether that would cut a connection. */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"

enum { LINE_BYTES = 256 };

static int refuse(const char *format, const char *name)
{
	fprintf(stderr, "trace_run: ");
	fprintf(stderr, format, name);
	fprintf(stderr, "; give two idle NICs that are joined: --devices TX,RX\n");
	return -EINVAL;
}

/* The kernel adds link-local ones as soon as a device is up. */
static bool has_address(const char *name)
{
	struct ifaddrs *all, *each;
	bool found = false;

	if (getifaddrs(&all))
		return true;
	for (each = all; each && !found; each = each->ifa_next) {
		const struct sockaddr *sa = each->ifa_addr;

		if (strcmp(each->ifa_name, name) || !sa)
			continue;
		found = sa->sa_family == AF_INET ||
			(sa->sa_family == AF_INET6 &&
			 !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)sa)->sin6_addr));
	}
	freeifaddrs(all);
	return found;
}

static bool line_is_default_of(const char *line, const char *name, bool ipv6)
{
	char device[LINE_BYTES], to[LINE_BYTES];
	unsigned int bits;

	if (ipv6)
		return sscanf(line, "%255s %x %*s %*s %*s %*s %*s %*s %*s %255s", to, &bits,
			      device) == 3 && !bits && !strcmp(device, name);
	return sscanf(line, "%255s %255s", device, to) == 2 && !strcmp(to, "00000000") &&
	       !strcmp(device, name);
}

static bool has_default_route(const char *name)
{
	static const char *const tables[] = { "/proc/self/net/route", "/proc/self/net/ipv6_route" };
	char line[LINE_BYTES];
	bool found = false;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		FILE *table = fopen(tables[ipv6], "re");

		while (table && !found && fgets(line, sizeof(line), table))
			found = line_is_default_of(line, name, ipv6);
		if (table)
			fclose(table);
	}
	return found;
}

/* Part of a bridge or bond, or below a VLAN: these send through it without an address of its
 * own. */
static bool has_upper(const char *name)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = !strcmp(entry->d_name, "master") || !strncmp(entry->d_name, "upper_", 6);
	if (folder)
		closedir(folder);
	return found;
}

static int check_idle(const char *name)
{
	if (!if_nametoindex(name))
		return refuse("there is no device '%s' here", name);
	if (!device_on_bus(name))
		return refuse("'%s' is no NIC: it sits on no bus", name);
	if (has_address(name))
		return refuse("'%s' carries addresses, which would be lost", name);
	if (has_default_route(name))
		return refuse("'%s' has the default route, which would be lost", name);
	if (has_upper(name))
		return refuse("'%s' belongs to another device, such as a bridge", name);
	return 0;
}

/* A guest is discarded after the run: there any two will do. */
static int choose_in_guest(char name[END_COUNT][IFNAMSIZ])
{
	struct if_nameindex *all = if_nameindex();
	int found = 0;

	for (struct if_nameindex *each = all; each && each->if_index && found < END_COUNT; each++)
		if (device_on_bus(each->if_name))
			snprintf(name[found++], IFNAMSIZ, "%s", each->if_name);
	if_freenameindex(all);
	return found == END_COUNT ? 0 : -ENODEV;
}

int nics_choose(const struct path_request *request, char name[END_COUNT][IFNAMSIZ])
{
	memcpy(name, request->device, sizeof(request->device));
	if (*name[END_SENDER])
		return 0;
	return getenv("COPYSCOPE_GUEST") ? choose_in_guest(name) : -ENODEV;
}

int nics_check(const struct path_request *request)
{
	char name[END_COUNT][IFNAMSIZ];
	int err = 0;

	if (nics_choose(request, name))
		return refuse(getenv("COPYSCOPE_GUEST") ?
			      "path %s needs two NICs: start the guest with --nics 2, or" :
			      "path %s needs two NICs, such as a guest's (--kernel 6.12)",
			      request->kind);
	for (int e = 0; e < END_COUNT && !err; e++)
		err = check_idle(name[e]);
	return err;
}

int nics_move(char name[END_COUNT][IFNAMSIZ], const int ns[END_COUNT])
{
	char batch[PATH_BATCH_BYTES];

	snprintf(batch, sizeof(batch),
		 "link set %s netns /proc/self/fd/%d\nlink set %s netns /proc/self/fd/%d\n",
		 name[END_SENDER], ns[END_SENDER], name[END_RECEIVER], ns[END_RECEIVER]);
	return net_namespace_run_ip(batch, ns, END_COUNT);
}
