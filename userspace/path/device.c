// SPDX-License-Identifier: GPL-2.0
/* Reads and switches off what ethtool(8) shows of a device, in the current namespace. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/path/parts.h"

/* One ioctl on a device; 0 or -errno. */
static int ask(const char *name, unsigned long number, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, number, request))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static int ask_ethtool(const char *name, void *command)
{
	struct ifreq request = { .ifr_data = command };

	return ask(name, SIOCETHTOOL, &request);
}

static bool flag(const char *name, uint32_t command)
{
	struct ethtool_value value = { .cmd = command };

	return !ask_ethtool(name, &value) && value.data;
}

/* lo and veth sit on no bus: a packet leaves them as a pointer, not by a DMA transfer. */
bool device_on_bus(const char *name)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };

	return !ask_ethtool(name, &driver) && *driver.bus_info && strcmp(driver.bus_info, "N/A");
}

/* A path gathers and segments only if each device that sends does; one device with DMA is
 * enough. */
void device_read(const char *name, struct path_info *info)
{
	info->scatter_gather &= flag(name, ETHTOOL_GSG);
	info->tso &= flag(name, ETHTOOL_GTSO);
	info->hardware_dma |= device_on_bus(name);
}

static int set_flag(const char *name, uint32_t get, uint32_t set, bool on)
{
	struct ethtool_value value = { .cmd = set, .data = on };
	int err = flag(name, get) != on ? ask_ethtool(name, &value) : 0;

	return err ? err : flag(name, get) != on ? -EOPNOTSUPP : 0;
}

int device_switch_off(const char *name, bool sg, bool tso)
{
	int err = tso ? set_flag(name, ETHTOOL_GTSO, ETHTOOL_STSO, false) : 0;

	return !err && sg ? set_flag(name, ETHTOOL_GSG, ETHTOOL_SSG, false) : err;
}

int device_mtu(const char *name)
{
	struct ifreq request = {};
	int err = ask(name, SIOCGIFMTU, &request);

	return err ? err : request.ifr_mtu;
}

int device_set_mtu(const char *name, int mtu)
{
	struct ifreq request = { .ifr_mtu = mtu };

	return ask(name, SIOCSIFMTU, &request);
}

int device_save(const char *name, struct device_state *state)
{
	struct ifreq request = {};
	int err = ask(name, SIOCGIFFLAGS, &request);

	*state = (struct device_state){ .mtu = device_mtu(name), .flags = request.ifr_flags,
					.sg = flag(name, ETHTOOL_GSG), .tso = flag(name, ETHTOOL_GTSO) };
	return err;
}

/* Segmentation needs gathering, so that comes first. */
void device_restore(const char *name, const struct device_state *state)
{
	struct ifreq request = { .ifr_flags = state->flags };

	if (device_mtu(name) != state->mtu)
		device_set_mtu(name, state->mtu);
	set_flag(name, ETHTOOL_GSG, ETHTOOL_SSG, state->sg);
	set_flag(name, ETHTOOL_GTSO, ETHTOOL_STSO, state->tso);
	ask(name, SIOCSIFFLAGS, &request);
}
