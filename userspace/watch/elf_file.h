/* SPDX-License-Identifier: GPL-2.0 */
/* What a file of code says of its functions. It may be anybody's file: nothing but a confined process reads it. */
#ifndef COPYSCOPE_WATCH_ELF_FILE_H
#define COPYSCOPE_WATCH_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/record/user_stacks.h"

struct elf_file;

/* NULL: it is no file of code. @fd stays the caller's. */
struct elf_file *elf_file_open(int fd);
void elf_file_close(struct elf_file *f);

/* Symbols that were stripped off it are in this file, too, if both have the same build-id. */
void elf_file_add_symbols(struct elf_file *f, int fd);

/* Its build-id. */
void elf_file_identify(struct elf_file *f, struct stack_module *module);

/* The address that the linker gave to what lies at @offset of the file; @offset where it has none. */
uint64_t elf_file_address(const struct elf_file *f, uint64_t offset);

/* The function that holds the address, as its source has it. False: none has a name. */
bool elf_file_function(struct elf_file *f, uint64_t address, char name[STACK_FUNCTION_BYTES]);

/* How the code at an address finds its caller. */
enum frame_rule { FRAME_UNKNOWN, FRAME_BY_STACK, FRAME_BY_POINTER };

/* FRAME_BY_STACK: the caller's stack pointer is ours and @bytes more; *@in_register: the return address lies in its
 * register, and not below that. */
enum frame_rule elf_file_rule(struct elf_file *f, uint64_t address, uint64_t *bytes, bool *in_register);

#endif
