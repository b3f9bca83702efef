/* SPDX-License-Identifier: GPL-2.0 */
/* The key that two hosts share: read from a file that no one else can read, or the environment. */
#ifndef COPYSCOPE_KEY_H
#define COPYSCOPE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEY_BYTES_MIN = 32, KEY_BYTES_MAX = 1024 };

struct key {
	uint8_t secret[KEY_BYTES_MAX];
	size_t bytes;	/* 0: there is none */
};

/* How to make one, for messages. */
extern const char key_recipe[];

/*
 * Reads the key from @file or, if that is NULL, from COPYSCOPE_PEER_KEY; no key if neither is given.
 * Spaces and line ends around it do not count. 0, or -EINVAL with one line printed.
 */
int key_load(struct key *key, const char *file);

/* Wipes it, and the variable that held it. */
void key_forget(struct key *key);

#endif
