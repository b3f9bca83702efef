// SPDX-License-Identifier: GPL-2.0
/* Reads the key that two hosts share; refuses one that others can read or that is too short. */
#include "userspace/peer/channel/key.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char variable[] = "COPYSCOPE_PEER_KEY";
const char key_recipe[] = "(umask 077; head -c 32 /dev/urandom | base64 > key)";

static int keep(struct key *key, const char *text, size_t bytes, const char *where)
{
	while (bytes && isspace((unsigned char)text[bytes - 1]))
		bytes--;
	for (; bytes && isspace((unsigned char)*text); bytes--)
		text++;
	if (bytes < KEY_BYTES_MIN || bytes > KEY_BYTES_MAX) {
		fprintf(stderr, "trace_run: a key has %d to %d characters, and that %s has fewer or more; "
			"make one with %s\n", KEY_BYTES_MIN, KEY_BYTES_MAX, where, key_recipe);
		return -EINVAL;
	}
	memcpy(key->secret, text, bytes);
	key->bytes = bytes;
	return 0;
}

/* NULL, or why a file cannot hold a secret. */
static const char *fault_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (st.st_uid && st.st_uid != geteuid())
		return "it belongs to another user; chown it";
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return "other users can read or write it; chmod 600 it";
	return NULL;
}

static int load_file(struct key *key, const char *file)
{
	/* Without O_NONBLOCK the open of a FIFO would wait. */
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	const char *fault = fd < 0 ? strerror(errno) : fault_of(fd);
	/* More than the longest key with spaces around it: a larger file is not a key. */
	char text[2 * KEY_BYTES_MAX];
	ssize_t got = fault ? 0 : read(fd, text, sizeof(text));

	if (!fault && got < 0)
		fault = strerror(errno);
	if (fd >= 0)
		close(fd);
	if (fault) {
		fprintf(stderr, "trace_run: cannot take the key from that --key-file: %s\n", fault);
		return -EINVAL;
	}
	err = keep(key, text, got, "of the --key-file");
	explicit_bzero(text, sizeof(text));
	return err;
}

int key_load(struct key *key, const char *file)
{
	const char *text = getenv(variable);

	key->bytes = 0;
	if (file)
		return load_file(key, file);
	return text ? keep(key, text, strlen(text), "in COPYSCOPE_PEER_KEY") : 0;
}

void key_forget(struct key *key)
{
	char *text = getenv(variable);

	explicit_bzero(key, sizeof(*key));
	if (text)
		explicit_bzero(text, strlen(text));
}
