/* SPDX-License-Identifier: GPL-2.0 */
/* Ways to move a message that take a file of their own: by MSG_ZEROCOPY, and as pages of a file, a pipe or a packet. */
#ifndef WORKLOAD_WAYS_H
#define WORKLOAD_WAYS_H

#include "userspace/workload/sender.h"

struct receiver;

/*
 * sendmsg(MSG_ZEROCOPY) until the message is whole. After ENOBUFS it waits for room and goes on, if
 * no behaviour says otherwise.
 */
enum outcome zerocopy_send(struct sender *sender, struct message *message);

/* After ENOBUFS: waits for room, unless the run is to do what a published program does instead. *@alone_since_ns:
 * 0 after each send that went through. */
enum outcome zerocopy_refused(struct sender *sender, size_t bytes, uint64_t *alone_since_ns);

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

/*
 * Out of the socket to a pipe, and on: to the message where it is checked, else to nowhere; by TCP_ZEROCOPY_RECEIVE,
 * where what cannot be mapped is copied, and what was mapped is copied to be checked.
 * splices_prepare: before the process gives up opening files; 0 or -errno.
 * splices_close: before the connection is closed.
 */
int splices_prepare(void);
enum outcome splices_receive(struct receiver *receiver);
enum outcome splices_map(struct receiver *receiver);
void splices_close(struct receiver *receiver);

/* By datagrams, and with MSG_ZEROCOPY if the variant asks for it. */
enum outcome datagrams_send(struct sender *sender, struct message *message);

/* The same, with a send() for each datagram. */
enum outcome datagrams_send_each(struct sender *sender, struct message *message);

/* Receives datagrams and checks them, until the sender has ended and no more arrive; or until @most_bytes are there, or
 * have been lost. */
#define DATAGRAMS_ALL UINT64_MAX
enum outcome datagrams_receive(struct connection *connection, bool check_content, uint64_t most_bytes);

#endif
