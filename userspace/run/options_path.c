// SPDX-License-Identifier: GPL-2.0
/* Parses the options of trace_run for what lies between the sockets. */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/common/option_values.h"
#include "userspace/path/path.h"
#include "userspace/run/options_parts.h"
#include "userspace/tables/paths.h"

enum { KEY_KIND = OPTIONS_KEY_PATH, KEY_ADDRESSES, KEY_DEVICES, KEY_PORT, KEY_TAP, KEY_NO_SG,
       KEY_NO_TSO, KEY_MTU, KEY_IPV6, KEY_NETEM, KEY_QDISC };

/* IPv4 hosts must take packets of 576 bytes (RFC 791), IPv6 links must carry 1,280 (RFC 8200). */
enum { MTU_MIN = 576, MTU_MIN_IPV6 = 1280, MTU_MAX = 65535 };

#define NAME_WORD(symbol, name, traits, meaning) " " name

static const struct argp_option option_table[] = {
	{ "path", KEY_KIND, "KIND", 0,
	  "what lies between the sockets (default veth): one of" PATHS(NAME_WORD), 1 },
	{ "addresses", KEY_ADDRESSES, "TX,RX/BITS", 0,
	  "addresses of both ends instead of ones made from the process id; on lo one, without "
	  "bits; on peer two without, for the data, instead of those that ssh connects", 1 },
	{ "devices", KEY_DEVICES, "TX,RX", 0,
	  "names of the two devices: on veth new ones (default tx0,rx0), on nic and forward idle NICs", 1 },
	{ "port", KEY_PORT, "N", 0, "TCP port that the sender listens on (default 9000)", 1 },
	{ "tap", KEY_TAP, "WHERE", 0,
	  "run a packet capture: at tx, rx, or in an unrelated namespace (other); as in tx,rx", 1 },
	{ "no-sg", KEY_NO_SG, NULL, 0, "switch scatter-gather off where packets are sent", 1 },
	{ "no-tso", KEY_NO_TSO, NULL, 0, "switch segmentation by the device off there", 1 },
	{ "mtu", KEY_MTU, "N", 0, "MTU of all devices of the path", 1 },
	{ "ipv6", KEY_IPV6, NULL, 0, "make IPv6 addresses", 1 },
	{ "netem", KEY_NETEM, "SPEC", 0,
	  "lose or delay packets that are sent: words of tc-netem(8), as in \"loss 1% delay 2ms\"", 1 },
	{ "qdisc", KEY_QDISC, "SPEC", 0,
	  "queue of the device that sends: tbf, pfifo or bfifo and words of tc(8), as in \"tbf rate "
	  "200mbit burst 64k limit 64k\"", 1 },
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

static bool same_network(int family, const char *a, const char *b, int bits)
{
	unsigned char left[16], right[16], rest = 0xff << (8 - bits % 8);

	inet_pton(family, a, left);
	inet_pton(family, b, right);
	return !memcmp(left, right, bits / 8) && !((left[bits / 8] ^ right[bits / 8]) & rest);
}

static void parse_addresses(const char *value, struct path_request *request)
{
	static const char help[] = "--addresses '%s' must be two addresses of one family and the "
				   "bits of their network, as in 10.0.0.1,10.0.0.2/24";
	char *tx = request->address[END_SENDER], *rx = request->address[END_RECEIVER], *slash;
	int family, most;
	uint64_t bits;

	if (!strchr(value, ',')) {
		if (!family_of(value))
			options_fail(help, value);
		snprintf(tx, ADDRESS_BYTES, "%s", value);
		return;
	}
	if (!split(value, tx, rx, ADDRESS_BYTES))
		options_fail(help, value);
	slash = strchr(rx, '/');
	if (slash)
		*slash++ = '\0';
	family = family_of(tx);
	most = family == AF_INET ? 31 : 127;
	if (!family || family_of(rx) != family)
		options_fail(help, value);
	/* Two hosts have their networks already. */
	if (!slash)
		return;
	if (!strcmp(tx, rx) || whole_parse(slash, NUMBER_PLAIN, 1, most, &bits))
		options_fail(help, value);
	request->prefix_bits = bits;
	if (!same_network(family, tx, rx, request->prefix_bits))
		options_fail("--addresses '%s' are not in one network of that many bits: neither end "
			     "could reach the other", value);
}

/* The names that the kernel accepts (net/core/dev.c, dev_valid_name), less those that ip(8) reads
 * otherwise. */
static bool is_device_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
			return false;
	return isalpha((unsigned char)*name) && strcmp(name, "lo");
}

static void parse_devices(const char *value, struct path_request *request)
{
	char *tx = request->device[END_SENDER], *rx = request->device[END_RECEIVER];

	if (!split(value, tx, rx, IFNAMSIZ) || !strcmp(tx, rx) || !is_device_name(tx) ||
	    !is_device_name(rx))
		options_fail("--devices '%s' must be two names of up to 15 letters and digits, as in "
			     "veth0,veth1", value);
}

static void parse_taps(const char *value, struct path_request *request)
{
	static const char help[] = "--tap '%s' must be tx, rx or other, or some of them with commas";
	const char *word = value;

	for (;;) {
		size_t length = strcspn(word, ",");
		int t = 0;

		while (t < TAP_COUNT && (strlen(tap_name(t)) != length ||
					 strncmp(tap_name(t), word, length)))
			t++;
		if (t == TAP_COUNT)
			options_fail(help, value);
		request->tap[t] = true;
		if (!word[length])
			return;
		word += length + 1;
	}
}

/* True if a word of @text begins so: tc(8) lets words be shortened. */
static bool has_word(const char *text, const char *beginning)
{
	const char *found = text;

	while ((found = strstr(found, beginning))) {
		if (found == text || found[-1] == ' ')
			return true;
		found++;
	}
	return false;
}

/* True if tc(8) cannot read the words as anything else. */
static void check_tc_words(const char *option, const char *value, const char *help)
{
	const char *digit = value + strcspn(value, "0123456789");

	if (value[strspn(value, " .%0123456789abcdefghijklmnopqrstuvwxyz")])
		options_fail("%s takes small letters, digits, dots, %% and spaces", option);
	if (!isalpha((unsigned char)*value) || !*digit || strlen(value) >= QDISC_BYTES)
		options_fail(help, value);
}

/* No program sent a packet that netem made or changed, so no law could balance. */
static void parse_netem(const char *value, struct path_request *request)
{
	check_tc_words("--netem", value,
		       "--netem '%s' must be words of tc-netem(8), as in loss 1%% delay 2ms");
	if (has_word(value, "du") || has_word(value, "c"))
		options_fail("--netem '%s': packets that are duplicated or corrupted on the way are no "
			     "one's sends, and no book could balance", value);
	strcpy(request->netem, value);
}

/* Queues that only delay, refuse and drop: no other kind has been run. */
static void parse_qdisc(const char *value, struct path_request *request)
{
	static const char *const kinds[] = { "tbf ", "pfifo ", "bfifo " };
	bool known = false;

	check_tc_words("--qdisc", value, "--qdisc '%s' must be a queue and its numbers, as in tbf rate "
		       "200mbit burst 64k limit 64k");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		known |= !strncmp(value, kinds[i], strlen(kinds[i]));
	if (!known)
		options_fail("--qdisc '%s' must begin with tbf, pfifo or bfifo; netem has an option of "
			     "its own, --netem", value);
	strcpy(request->qdisc, value);
}

static void check_switches(const struct path_request *request)
{
	bool ipv6 = request->ipv6 || strchr(request->address[END_SENDER], ':');

	if (request->ipv6 && *request->address[END_SENDER])
		options_fail("%s", "--ipv6 makes addresses: leave it out beside --addresses");
	if (ipv6 && request->mtu && request->mtu < MTU_MIN_IPV6)
		options_fail("%s", "--mtu: IPv6 needs at least 1280");
	if (path_has(request->kind, PATH_TWO_HOSTS) &&
	    (path_packet_taps(request) || request->no_sg || request->no_tso || request->mtu || request->ipv6 ||
	     *request->netem || *request->qdisc))
		options_fail("%s", "path peer takes the hosts' devices as they are: switch them with "
			     "ethtool(8), tc(8) or ip(8)");
	if (*request->netem && *request->qdisc)
		options_fail("%s", "--netem and --qdisc: a device has one queue, leave one of them out");
	if (path_has(request->kind, PATH_ROUTED) && *request->address[END_SENDER])
		options_fail("%s", "--addresses: path forward has four of them and makes its own");
}

static void check_request(const struct path_request *request)
{
	bool on_lo = path_has(request->kind, PATH_ONE_DEVICE);

	check_switches(request);
	if (on_lo && *request->device[END_SENDER])
		options_fail("%s", "--devices: path lo has one device, and its name is lo");
	if (on_lo && *request->address[END_RECEIVER])
		options_fail("%s", "--addresses: path lo takes one address, as in 127.0.0.1");
	if (path_has(request->kind, PATH_TWO_HOSTS)) {
		if (*request->device[END_SENDER])
			options_fail("%s", "--devices: path peer uses those that the hosts have");
		if (*request->address[END_SENDER] &&
		    (!*request->address[END_RECEIVER] || request->prefix_bits))
			options_fail("%s", "--addresses: path peer takes two without bits, as in "
				     "10.0.0.1,10.0.0.2");
		return;
	}
	if (!on_lo && *request->address[END_SENDER] && !request->prefix_bits)
		options_fail("--addresses: path %s takes two and the bits of their network, as in "
			     "10.0.0.1,10.0.0.2/24", request->kind);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct path_request *request = state->input;

	switch (key) {
	case KEY_KIND:
		if (path_find(arg) < 0)
			options_fail("unknown path '%s'; it must be one of" PATHS(NAME_WORD), arg);
		request->kind = arg;
		break;
	case KEY_ADDRESSES:
		parse_addresses(arg, request);
		break;
	case KEY_DEVICES:
		parse_devices(arg, request);
		break;
	case KEY_PORT:
		request->port = options_whole(arg, 1, 65535, "--port");
		break;
	case KEY_TAP:
		parse_taps(arg, request);
		break;
	case KEY_NO_SG:
		request->no_sg = true;
		break;
	case KEY_NO_TSO:
		request->no_tso = true;
		break;
	case KEY_MTU:
		request->mtu = options_whole(arg, MTU_MIN, MTU_MAX, "--mtu");
		break;
	case KEY_IPV6:
		request->ipv6 = true;
		break;
	case KEY_NETEM:
		parse_netem(arg, request);
		break;
	case KEY_QDISC:
		parse_qdisc(arg, request);
		break;
	case ARGP_KEY_END:
		check_request(request);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp options_path_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };
