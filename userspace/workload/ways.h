/* SPDX-License-Identifier: GPL-2.0 */
/* Ways to send a message that take a file of their own: by MSG_ZEROCOPY, and as pages of a file or of a pipe. */
#ifndef WORKLOAD_WAYS_H
#define WORKLOAD_WAYS_H

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

/* These two from the message's file. */
enum outcome splices_sendfile(struct sender *sender, struct message *message);
enum outcome splices_splice(struct sender *sender, struct message *message);

/* From the message's memory; as a gift of its pages (SPLICE_F_GIFT) the second one. */
enum outcome splices_vmsplice(struct sender *sender, struct message *message);
enum outcome splices_gift(struct sender *sender, struct message *message);

/* Nothing tells when the receiver has read such pages, and over lo and veth it reads these very pages: a message
 * that will be filled anew gets new memory. */
enum outcome splices_renew(struct sender *sender, struct message *message);

#endif
