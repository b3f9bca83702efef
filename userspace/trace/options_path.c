// SPDX-License-Identifier: GPL-2.0
/* Parses the switches of trace_run that say what lies between the sockets. */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/path/path.h"
#include "userspace/trace/options_parts.h"

enum { KEY_KIND = OPTIONS_KEY_PATH, KEY_ADDRESSES, KEY_DEVICES, KEY_PORT };

static const struct argp_option option_table[] = {
	{ "path", KEY_KIND, "KIND", 0, "what lies between the sockets: lo, veth (default veth)", 1 },
	{ "addresses", KEY_ADDRESSES, "TX,RX/BITS", 0,
	  "addresses of both ends instead of ones made from the process id; on lo one, without bits",
	  1 },
	{ "devices", KEY_DEVICES, "TX,RX", 0, "names of the two devices (default tx0,rx0)", 1 },
	{ "port", KEY_PORT, "N", 0, "TCP port that the sender listens on (default 9000)", 1 },
	{},
};

/* Splits "a,b" into two fields of @size; false if a part is missing, empty or too long. */
static bool split(const char *value, char *first, char *second, size_t size)
{
	const char *comma = strchr(value, ',');
	size_t length = comma ? (size_t)(comma - value) : 0;

	if (!length || length >= size || !comma[1] || strlen(comma + 1) >= size)
		return false;
	memcpy(first, value, length);
	first[length] = '\0';
	strcpy(second, comma + 1);
	return true;
}

static int family_of(const char *address)
{
	unsigned char raw[16];

	return inet_pton(AF_INET, address, raw) == 1 ? AF_INET :
	       inet_pton(AF_INET6, address, raw) == 1 ? AF_INET6 : 0;
}

static void parse_addresses(const char *value, struct path_wish *wish)
{
	static const char help[] = "--addresses '%s' must be two addresses of one family and the "
				   "bits of their network, as in 10.0.0.1,10.0.0.2/24";
	char *tx = wish->address[END_SENDER], *rx = wish->address[END_RECEIVER], *slash;
	int family, most;

	if (!strchr(value, ',')) {
		if (!family_of(value))
			options_fail(help, value);
		snprintf(tx, ADDRESS_BYTES, "%s", value);
		return;
	}
	if (!split(value, tx, rx, ADDRESS_BYTES) || !(slash = strchr(rx, '/')))
		options_fail(help, value);
	*slash++ = '\0';
	family = family_of(tx);
	most = family == AF_INET ? 31 : 127;
	wish->prefix_bits = isdigit((unsigned char)*slash) ? atoi(slash) : 0;
	if (!family || family_of(rx) != family || !strcmp(tx, rx) || strlen(slash) > 3 ||
	    wish->prefix_bits < 1 || wish->prefix_bits > most)
		options_fail(help, value);
}

/* What the kernel takes for a name (net/core/dev.c, dev_valid_name), less what ip(8) reads else. */
static bool is_device_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
			return false;
	return isalpha((unsigned char)*name) && strcmp(name, "lo");
}

static void parse_devices(const char *value, struct path_wish *wish)
{
	char *tx = wish->device[END_SENDER], *rx = wish->device[END_RECEIVER];

	if (!split(value, tx, rx, IFNAMSIZ) || !strcmp(tx, rx) || !is_device_name(tx) ||
	    !is_device_name(rx))
		options_fail("--devices '%s' must be two names of up to 15 letters and digits, as in "
			     "veth0,veth1", value);
}

static void check_wish(const struct path_wish *wish)
{
	bool on_lo = !strcmp(wish->kind, "lo");

	if (on_lo && *wish->device[END_SENDER])
		options_fail("%s", "--devices: path lo has one device, and its name is lo");
	if (on_lo && *wish->address[END_RECEIVER])
		options_fail("%s", "--addresses: path lo takes one address, as in 127.0.0.1");
	if (!on_lo && *wish->address[END_SENDER] && !*wish->address[END_RECEIVER])
		options_fail("--addresses: path %s takes two, as in 10.0.0.1,10.0.0.2/24", wish->kind);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct path_wish *wish = state->input;

	switch (key) {
	case KEY_KIND:
		if (!path_known(arg))
			options_fail("unknown path '%s'; this build arranges lo and veth", arg);
		wish->kind = arg;
		break;
	case KEY_ADDRESSES:
		parse_addresses(arg, wish);
		break;
	case KEY_DEVICES:
		parse_devices(arg, wish);
		break;
	case KEY_PORT:
		wish->port = options_whole(arg, 1, 65535, "--port");
		break;
	case ARGP_KEY_END:
		check_wish(wish);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp options_path_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };
