/* SPDX-License-Identifier: GPL-2.0 */
/* Who called sudo, by the variables that it sets. */
#ifndef COPYSCOPE_SUDO_CALLER_H
#define COPYSCOPE_SUDO_CALLER_H

#include <stdint.h>

#define SUDO_UID "SUDO_UID"
#define SUDO_GID "SUDO_GID"

/* The number of the user or the group in one of these: 1; 0 if it is not set, -EINVAL or -ERANGE if it holds no such
 * number. */
int sudo_caller(const char *variable, uint32_t *number);

#endif
