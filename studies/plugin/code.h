/* SPDX-License-Identifier: GPL-2.0 */
/* Translated code as the plugin knows it: what each block is part of, and how it ends. */
#ifndef COPYSCOPE_PLUGIN_CODE_H
#define COPYSCOPE_PLUGIN_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/plugin/qemu.h"

enum entry { ENTRY_NONE, ENTRY_SITE, ENTRY_CALL, ENTRY_SOFTIRQ, ENTRY_IRQ, ENTRY_FRESH_TASK };
enum ending { ENDS_OTHERWISE, ENDS_WITH_CALL, ENDS_WITH_RETURN };

/* A stretch of code without a jump, as QEMU translates it. */
struct block {
	uint64_t start, end;
	bool kernel;
	bool copies;		/* part of a function that fills one stretch of memory in each call */
	bool copy_begins;	/* that function's first block */
	bool switches;		/* part of the function that switches tasks */
	enum ending ends;
	enum entry enters;	/* it is the first of such a function */
	unsigned int site;	/* of ENTRY_SITE */
	unsigned int call;	/* of ENTRY_CALL; of ENTRY_SITE the one it must be inside of; 0: any */
	struct block *next;
};

/* What the blocks of a guest are instructions of. False if it is not known. */
bool code_target(const char *name);

/* Never NULL: without memory the emulator ends. It lasts as long as the emulator. */
struct block *code_block(const struct qemu_plugin_tb *tb);

/*
 * Takes a line that tells of a function, by addresses in hexadecimal: "call NUMBER START", "site NUMBER START
 * CALL", "softirq START", "irq START", "fresh START", "switch START END" or "copy START END". Blocks translated
 * before learn it, too. False if it is no such line.
 */
bool code_learn(const char *line);

/* The emulator has thrown away all that it translated. */
void code_forget_blocks(void);

#endif
