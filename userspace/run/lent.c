// SPDX-License-Identifier: GPL-2.0
/* Attaches hooks that runs borrow one after the other. */
#include "userspace/run/lent.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void lent_need(struct lent_need *need, const struct probes_config *config)
{
	const struct subject *s = config->subject;

	*need = (struct lent_need){ .config = *config, .subject = *s };
	need->config.relinks = true;
	/* None of its processes is there when hooks are attached. Those of runs that reference pages do for all. */
	need->subject.processes = need->subject.namespaces = 0;
	need->subject.references = true;
	need->subject.usdt_pid = -1;
	snprintf(need->detach, sizeof(need->detach), "%s", config->detach ?: "");
	snprintf(need->usdt_path, sizeof(need->usdt_path), "%s", s->usdt_path ?: "");
}

void lent_accept(struct lent *lent)
{
	munmap(lent->asked, sizeof(*lent->asked));
	lent->asked = NULL;
}

static void point_home(struct lent_need *need)
{
	need->config.subject = &need->subject;
	need->config.detach = *need->detach ? need->detach : NULL;
	need->subject.usdt_path = *need->usdt_path ? need->usdt_path : NULL;
}

/* False: they are to be loaded anew. */
static bool relink(struct lent *lent)
{
	struct lent_need *had = &lent->had, *asked = lent->asked;

	point_home(asked);
	if (!lent->probes || !probes_alike(&had->config, &asked->config) || probes_relink(lent->probes, &asked->config))
		return false;
	memcpy(had->detach, asked->detach, sizeof(had->detach));
	had->subject.hardware_dma = asked->subject.hardware_dma;
	point_home(had);
	return true;
}

int lent_attach(struct lent *lent)
{
	static struct record unused;
	int err;

	if (relink(lent))
		return 0;
	lent_free(lent);
	lent->had = *lent->asked;
	point_home(&lent->had);
	unused = (struct record){};
	err = probes_load(&lent->probes, &lent->had.config, &unused);
	if (!err)
		err = probes_attach(lent->probes, &unused);
	if (!err)
		err = probes_keep(lent->probes);
	if (err)
		lent_free(lent);
	return err;
}

void lent_free(struct lent *lent)
{
	probes_free(lent->probes);
	lent->probes = NULL;
}
