/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that parse the command line of trace_run share; options.h is for everyone else. */
#ifndef COPYSCOPE_OPTIONS_PARTS_H
#define COPYSCOPE_OPTIONS_PARTS_H

#include <argp.h>

/* Keys of the main table start at 256, those of the path at 512, those of two hosts at 768. */
enum { OPTIONS_KEY_MAIN = 256, OPTIONS_KEY_PATH = 512, OPTIONS_KEY_PEER = 768 };

/* Parse the switches of the path, and those for two hosts, into a struct path_request. */
extern const struct argp options_path_argp;
extern const struct argp options_peer_argp;

#endif
