/* SPDX-License-Identifier: GPL-2.0 */
/* What the kinds of path are built from; path.h is for everyone else. */
#ifndef COPYSCOPE_PATH_PARTS_H
#define COPYSCOPE_PATH_PARTS_H

#include "userspace/path/path_types.h"
#include "userspace/tables/paths.h"

/* path_lo(), path_veth(), ...: each arranges the path of its name. */
#define PATH_DECLARE(symbol, name, traits, meaning) \
	int path_##symbol(struct path *path, const struct path_request *request);
PATHS(PATH_DECLARE)
#undef PATH_DECLARE

/* Notes an interface of the path: @sends if payload leaves by it. */
void path_add_device(struct path *path, int ns, const char *name, bool sends);

/* An interface as ip(8) is to set it up. */
struct path_port {
	const char *device;
	char address[ADDRESS_BYTES + 8];	/* with /bits */
};

/*
 * The address of @end on hop @link of this run, requested or made from the run's number, with the
 * prefix length in @port and without it in @plain, if any.
 */
enum { LINK_SENDER, LINK_RECEIVER };
void path_address(const struct path_request *request, int link, enum end end, struct path_port *port,
		  char *plain);

/* Runs @first, which may name the descriptor @named (-1: none), and sets the port up in the current
 * namespace. */
int path_set_up(const struct path_port *port, const char *first, int named);

/* The two NICs that the request names, or in a guest those that are there: 0 or as path_check. */
int nics_check(const struct path_request *request);
int nics_choose(const struct path_request *request, char name[END_COUNT][IFNAMSIZ]);

/* Moves both NICs from here into two namespaces. */
int nics_move(char name[END_COUNT][IFNAMSIZ], const int ns[END_COUNT]);

/*
 * Call it in the home namespace before the NICs move to @ns. nic_restore_end waits until a process of
 * its own has brought them back.
 */
int nic_restore_start(struct path *path, char name[END_COUNT][IFNAMSIZ],
		      const int ns[END_COUNT]);
void nic_restore_end(struct path *path);

/* ethtool(8)'s view of a device of the current namespace. */
bool device_on_bus(const char *name);
void device_read(const char *name, struct path_info *info);
int device_switch_off(const char *name, bool sg, bool tso);
int device_mtu(const char *name);
int device_set_mtu(const char *name, int mtu);

/* What a run may change in a borrowed device. */
struct device_state {
	int mtu;
	short flags;
	bool sg, tso;
};

int device_save(const char *name, struct device_state *state);
void device_restore(const char *name, const struct device_state *state);

/* What was requested beside the path itself. First tried in a namespace of its own, then applied:
 * -ECANCELED if a device refused and the user was told. */
int switches_check(const struct path_request *request);
int switches_apply(struct path *path, const struct path_request *request, struct path_info *info);

#endif
