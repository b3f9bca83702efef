/* SPDX-License-Identifier: GPL-2.0 */
/* What reports say of a socket's, a process's or all movements: sums over sites. Pure. */
#ifndef COPYSCOPE_WATCH_REPORT_FIGURES_H
#define COPYSCOPE_WATCH_REPORT_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/record/watch_record.h"

/* A number of bytes, or that it is not known. */
struct figure {
	bool known;
	uint64_t bytes;
};

struct figure figure_site(const struct watch_movements *m, enum site site);
struct figure figure_count(const struct watch_movements *m, enum count count);

/* Bytes that tcp_sendmsg accepted, and that recv returned. */
struct figure figure_sent(const struct watch_movements *m);
struct figure figure_received(const struct watch_movements *m);

/* Both, as far as they are known: reports are sorted by it. */
uint64_t figure_moved(const struct watch_movements *m);

/* Bytes that the program spliced: those that kernel TLS did are records. */
struct figure figure_spliced(const struct watch_movements *m);

/* Bytes sent by reference or spliced: seen to be handed over as pages (not known if none was and the fate of
 * some is not), and those of which nobody knows whether they were copied behind the socket. */
struct figure figure_uncopied(const struct watch_movements *m);
struct figure figure_unknown(const struct watch_movements *m);

/* Bytes that were to be sent without a copy, and were copied all the same: after send had referenced
 * them, at most as many as it referenced, and where it is known that send ignored the request, too. */
struct figure figure_needless(const struct watch_movements *m);

/* Bytes of user pages that were copied after send had referenced them, and where it is known, those that
 * the kernel moved. */
struct figure figure_copied_later(const struct watch_movements *m);

/* Bytes that the processor copied, by send, by recv or in between; known if nothing may have been copied besides. */
struct figure figure_copied(const struct watch_movements *m);

#endif
