/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses out of text, without a service of names. */
#ifndef COPYSCOPE_NUMERIC_ADDRESS_H
#define COPYSCOPE_NUMERIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* An IPv4 address of four numbers, or an IPv6 one; a device may follow that, as in "fe80::1%eth0". Its port is 0. */
bool numeric_address_parse(const char *text, struct sockaddr_storage *address);

socklen_t numeric_address_bytes(const struct sockaddr_storage *address);

#endif
