// SPDX-License-Identifier: GPL-2.0
/* Gives up root for good between attaching and measuring. */
#include "userspace/run/limits/privileges.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/capability.h>

#include "userspace/common/confine/confine.h"

static const uint64_t to_read_maps = 1ull << CAP_BPF;

/* Still permitted, so that it can be restored, but not effective. */
static int disable_all(void)
{
	cap_t caps = cap_get_proc();
	int err = !caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_set_proc(caps) ? -errno : 0;

	cap_free(caps);
	return err;
}

/* Up to 5.18 kernel.unprivileged_bpf_disabled, which distributions set, forbids processes without
 * CAP_BPF to read maps that they have open (since c8644cd0efe7, "bpf: refine
 * kernel.unprivileged_bpf_disabled behaviour", only to make new ones). So we try. */
int privileges_drop(bool (*readable)(void *arg), void *arg)
{
	int err = confine_for_good_but(to_read_maps);

	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	if (!err)
		err = disable_all();
	if (!err)
		err = readable(arg) ? confine_for_good() : confine_for_good_but(to_read_maps);
	return err ? err : confine_syscalls(CONFINE_MEASURE);
}

int privileges_drop_last(void)
{
	return confine_for_good();
}
