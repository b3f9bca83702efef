// SPDX-License-Identifier: GPL-2.0
/* Gives a connection kernel TLS with keys that both ends know beforehand: no handshake. */
#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>

#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/fail.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif

/* Longer than a full send buffer takes to drain: a send that times out may leave a part of a record behind, which
 * the kernel sends later than a shutdown. */
enum { SEND_SECONDS = 5 };

/* Known to everyone: what travels so is hidden from nobody. */
static struct tls12_crypto_info_aes_gcm_128 key_of(bool from_server, bool old)
{
	struct tls12_crypto_info_aes_gcm_128 key = {
		.info = { .version = old ? TLS_1_2_VERSION : TLS_1_3_VERSION,
			  .cipher_type = TLS_CIPHER_AES_GCM_128 },
	};

	memset(key.key, from_server ? 's' : 'c', sizeof(key.key));
	memset(key.salt, 't', sizeof(key.salt));
	memset(key.iv, 'i', sizeof(key.iv));
	return key;
}

static int set_key(int fd, int direction, bool from_server, bool old)
{
	struct tls12_crypto_info_aes_gcm_128 key = key_of(from_server, old);

	return setsockopt(fd, SOL_TLS, direction, &key, sizeof(key));
}

int connection_begin_tls(struct connection *connection, bool server, bool old)
{
	struct timeval patience = { .tv_sec = SEND_SECONDS };
	int fd = connection->fd, err;

	if (!setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) && !set_key(fd, TLS_TX, server, old) &&
	    !set_key(fd, TLS_RX, !server, old) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		return 0;
	err = -errno;
	complain("this kernel refuses kernel TLS (%s): load its module tls, or use another variant", strerror(-err));
	return err;
}
