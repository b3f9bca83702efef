/* SPDX-License-Identifier: GPL-2.0 */
/* Sends a message as pages of a file or of a pipe: sendfile(2), splice(2), vmsplice(2). */
#ifndef WORKLOAD_SPLICES_H
#define WORKLOAD_SPLICES_H

#include "userspace/workload/sender.h"

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
