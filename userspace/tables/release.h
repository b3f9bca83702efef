/* SPDX-License-Identifier: GPL-2.0 */
/* The release of copyscope: records, hellos of two hosts and --version name it. */
#ifndef COPYSCOPE_RELEASE_H
#define COPYSCOPE_RELEASE_H

#define COPYSCOPE_RELEASE "1.0.0"

/* Prints both on stdout, as --version does, and exits with 0. */
void release_print(void) __attribute__((noreturn));

#endif
