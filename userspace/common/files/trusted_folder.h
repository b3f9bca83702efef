/* SPDX-License-Identifier: GPL-2.0 */
/* Opens a folder so that nobody but root decides where root's files go. */
#ifndef COPYSCOPE_TRUSTED_FOLDER_H
#define COPYSCOPE_TRUSTED_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Room for what is wrong with a folder. */
enum { FOLDER_WHY_BYTES = 320 };

/*
 * Returns a descriptor (O_PATH) of the folder @path, or -errno; -EPERM with the reason in @why if
 * we are root, and a folder or link on the way belongs to a user who is not trusted or may be
 * changed by one. Sticky folders, such as /tmp, may be written to by all.
 */
int trusted_folder_open(const char *path, char why[FOLDER_WHY_BYTES]);

/* Is this root, we, the owner of the running program or the user who called sudo? They could do
 * as root what they like without our help. */
bool trusted_user(uid_t user);

#endif
