// SPDX-License-Identifier: GPL-2.0
/* Addresses out of text. getaddrinfo() would load a library for it, which one static file does not bring. */
#include "userspace/common/numeric_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>

#include "userspace/common/numbers.h"

/* The number of a device, which may be given as such; 0 if there is none. */
static uint32_t device_index(const char *text)
{
	uint32_t index = if_nametoindex(text);
	uint64_t number;

	return index ? index : whole_parse(text, NUMBER_PLAIN, 1, UINT32_MAX, &number) ? 0 : number;
}

bool numeric_address_parse(const char *text, struct sockaddr_storage *address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
	char bare[INET6_ADDRSTRLEN] = "";
	const char *device = strchr(text, '%');
	size_t length = device ? (size_t)(device - text) : strlen(text);

	memset(address, 0, sizeof(*address));
	v4->sin_family = AF_INET;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		return true;
	if (length >= sizeof(bare))
		return false;
	memcpy(bare, text, length);
	memset(address, 0, sizeof(*address));
	v6->sin6_family = AF_INET6;
	v6->sin6_scope_id = device ? device_index(device + 1) : 0;
	return inet_pton(AF_INET6, bare, &v6->sin6_addr) == 1 && !device == !v6->sin6_scope_id;
}

socklen_t numeric_address_bytes(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}
