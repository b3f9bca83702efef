/* SPDX-License-Identifier: GPL-2.0 */
/* What the MSG_ZEROCOPY variants share: the send, and two ways to learn a buffer is free. */
#ifndef WORKLOAD_ZEROCOPY_H
#define WORKLOAD_ZEROCOPY_H

#include "userspace/workload/sender.h"

/*
 * sendmsg(MSG_ZEROCOPY) until the message is whole. After ENOBUFS it waits for room and goes on, if
 * no behaviour says otherwise.
 */
enum outcome zerocopy_send(struct sender *sender, struct message *message);

/* Read completions until they cover every send of @message. */
enum outcome zerocopy_reap(struct sender *sender, struct message *message);

/* Wait until TCP has had every byte of @message acknowledged; reads no completions. */
enum outcome zerocopy_reap_acknowledged(struct sender *sender, struct message *message);

#endif
