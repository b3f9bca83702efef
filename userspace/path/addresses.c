// SPDX-License-Identifier: GPL-2.0
/* Addresses of a run: as requested, or made from its number so that no two runs look alike. */
#include <stdio.h>

#include "userspace/common/system/process_numbers.h"
#include "userspace/path/parts.h"

enum { BITS_IPV4 = 30, BITS_IPV6 = 64 };

/* A /30 of 10.0.0.0/8 for each of the 2^22 possible runs; behind a router, where only this run can
 * look, one of 172.16.0.0/12. */
static void ipv4_of_run(int link, enum end end, char *text)
{
	unsigned int run = run_number();

	if (link == LINK_SENDER)
		snprintf(text, ADDRESS_BYTES, "10.%u.%u.%u", run >> 14 & 255, run >> 6 & 255,
			 (run & 63) * 4 + 1 + end);
	else
		snprintf(text, ADDRESS_BYTES, "172.%u.%u.%u", 16 + (run >> 14 & 15),
			 run >> 6 & 255, (run & 63) * 4 + 1 + end);
}

/* A /64 of fd00::/8 (RFC 4193), with the run's number in place of the random one. */
static void ipv6_of_run(int link, enum end end, char *text)
{
	unsigned int run = run_number();

	snprintf(text, ADDRESS_BYTES, "fdc5:%x:%x:%x::%x", run >> 16, run & 0xffff, link, 1 + end);
}

void path_address(const struct path_request *request, int link, enum end end, struct path_port *port,
		  char *plain)
{
	bool requested = *request->address[END_SENDER];
	char address[ADDRESS_BYTES];

	if (requested)
		snprintf(address, sizeof(address), "%s", request->address[end]);
	else if (request->ipv6)
		ipv6_of_run(link, end, address);
	else
		ipv4_of_run(link, end, address);
	snprintf(port->address, sizeof(port->address), "%s/%d", address,
		 requested ? request->prefix_bits : request->ipv6 ? BITS_IPV6 : BITS_IPV4);
	if (plain)
		snprintf(plain, ADDRESS_BYTES, "%s", address);
}
