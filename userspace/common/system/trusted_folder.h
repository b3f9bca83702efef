/* SPDX-License-Identifier: GPL-2.0 */
/* Opens a folder so that nobody but root decides where root's files go. */
#ifndef COPYSCOPE_TRUSTED_FOLDER_H
#define COPYSCOPE_TRUSTED_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Size of the text that names what is wrong with a folder. */
enum { FOLDER_WHY_BYTES = 320 };

/*
 * Returns a descriptor (O_PATH) of the folder @path, or -errno. As root: -EPERM with the reason in
 * @why if a folder or link on the way belongs to a user who is not trusted, or such a user may
 * change it. Sticky folders, such as /tmp, may be writable for all.
 */
int trusted_folder_open(const char *path, char why[FOLDER_WHY_BYTES]);

/* True for root, the current user, the owner of the running program and the user who called sudo:
 * they could do as root what they like without our help. */
bool trusted_user(uid_t user);

#endif
