// SPDX-License-Identifier: GPL-2.0
/* Agrees with the other half of a run on what is run, and between which addresses. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/peer/channel/run_request.h"
#include "userspace/peer/peer.h"

/* ssh may try several addresses and keys, and the far half may be in an emulated guest on a busy
 * machine. */
enum { HELLO_MS = 60000, WORD_MS = 5000, LINE_BYTES = 300 };

/* Whether an end can be at this address here. */
static bool is_here(const char *address)
{
	struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM },
			*found;
	bool here;
	int fd;

	if (getaddrinfo(address, NULL, &numeric, &found))
		return false;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	here = fd >= 0 && !bind(fd, found->ai_addr, found->ai_addrlen);
	close(fd);
	freeaddrinfo(found);
	return here;
}

/* The addresses of the run: those that the user names, or those that ssh connects. NULL, or why
 * there are none. */
static const char *choose_addresses(struct path_request *request, const char *near, const char *far,
				    char *line)
{
	enum end here = request->partner.here;
	char *mine = request->address[here], *theirs = request->address[END_COUNT - 1 - here];
	bool named = *mine;

	if (!named) {
		strcpy(mine, near);
		strcpy(theirs, far);
	}
	if (is_here(mine))
		return NULL;
	if (!*mine)
		snprintf(line, LINE_BYTES,
			 "it does not know its ssh connection: name the addresses for the data "
			 "(--addresses SENDER,RECEIVER)");
	else if (named)
		snprintf(line, LINE_BYTES, "--addresses: %s is no address of this host", mine);
	else
		snprintf(line, LINE_BYTES,
			 "ssh comes there from %s, which is no address of this host: name the "
			 "addresses for the data (--addresses SENDER,RECEIVER)",
			 mine);
	return line;
}

static int near_meet(struct peer *p, struct options *o)
{
	struct path_request *request = &o->request;
	struct run_request asked = { .plan = o->plan,
				     .port = request->port,
				     .no_probes = o->no_probes,
				     .far = END_COUNT - 1 - p->here };
	char near[ADDRESS_BYTES], far[ADDRESS_BYTES], line[LINE_BYTES];
	const char *fault;
	json_t *hello;
	int err = peer_hear(p, WORD_HELLO, &hello, CHANNEL_WORD_BYTES, HELLO_MS);

	if (err)
		return peer_complain(p, err);
	/* Of a login shell, and so not why anything ends from now on. */
	channel_pass_on(&p->channel);
	fault = hello_read(hello, near, far, line, sizeof(line));
	if (!fault)
		fault = choose_addresses(request, near, far, line);
	json_decref(hello);
	if (fault) {
		fprintf(stderr, "trace_run: no run with %s: %s\n", p->host, fault);
		return -EPROTO;
	}
	memcpy(asked.address, request->address, sizeof(asked.address));
	err = channel_tell(&p->channel, WORD_RUN, run_request_json(&asked), WORD_MS);
	return err ? peer_complain(p, err) : 0;
}

static int far_meet(struct peer *p, struct options *o)
{
	char line[LINE_BYTES];
	struct run_request asked;
	const char *fault;
	json_t *request;
	int err = channel_tell(&p->channel, WORD_HELLO, hello_json(o->request.partner.connection),
			       WORD_MS);

	if (!err)
		err = peer_hear(p, WORD_RUN, &request, CHANNEL_WORD_BYTES, HELLO_MS);
	if (err)
		return peer_complain(p, err);
	fault = run_request_read(request, &asked);
	json_decref(request);
	p->here = asked.far;
	if (!fault && !is_here(asked.address[p->here])) {
		snprintf(line, sizeof(line), "%s is no address of this host",
			 asked.address[p->here]);
		fault = line;
	}
	if (fault) {
		fprintf(stderr, "trace_run: cannot run what was asked for: %s\n", fault);
		return -EPROTO;
	}
	o->plan = asked.plan;
	o->no_probes = asked.no_probes;
	o->request.port = asked.port;
	o->request.partner.here = p->here;
	memcpy(o->request.address, asked.address, sizeof(asked.address));
	return 0;
}

int peer_meet(struct peer *p, struct options *o)
{
	int err;

	if (!p->far && !p->host)
		return 0;
	p->here = o->request.partner.here;
	err = p->far ? far_meet(p, o) : near_meet(p, o);
	p->met = !err;
	return err;
}
