/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks that stay attached while one run follows another: what a run asks of them, and whether it is what they count. */
#ifndef COPYSCOPE_LENT_H
#define COPYSCOPE_LENT_H

#include <limits.h>

#include "userspace/engine/probes.h"

/* What hooks are attached for. It lies in memory that a run shares with who attaches them. */
struct lent_need {
	bool none;	/* no hook may be attached beside the run, which attaches what it needs itself */
	struct probes_config config;
	struct subject subject;
	char detach[WHY_BYTES], usdt_path[PATH_MAX];
};

struct lent {
	struct probes *probes;	/* attached; NULL: none are */
	struct lent_need had;	/* what they were attached for */
	struct lent_need *asked;	/* what the run needs instead */
	bool alone;		/* the run is to attach its own */
};

/* What counts the run of @config, whose text the need then owns. */
void lent_need(struct lent_need *need, const struct probes_config *config);

/* What is attached is what the run needs: from here on this process can ask for nothing else, whoever it becomes. */
void lent_accept(struct lent *lent);

/* Attaches what was asked for, in place of what is attached: single hooks if the same programs count it. 0, or -errno
 * with nothing attached. */
int lent_attach(struct lent *lent);

/* Detaches. */
void lent_free(struct lent *lent);

#endif
