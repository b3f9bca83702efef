// SPDX-License-Identifier: GPL-2.0
/* Walks the program's segments: dl_iterate_phdr() tells of the program itself first. */
#include "userspace/baseline/code.h"

#include <link.h>
#include <stdbool.h>

struct search {
	uintptr_t address;
	int64_t offset;
};

static int look(struct dl_phdr_info *program, size_t size, void *data)
{
	struct search *s = data;
	uintptr_t at = s->address - program->dlpi_addr;

	for (int i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &program->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && at >= segment->p_vaddr &&
		    at < segment->p_vaddr + segment->p_filesz)
			s->offset = at - segment->p_vaddr + segment->p_offset;
	}
	return true;	/* no library is looked at */
}

int64_t code_file_offset(const void *function)
{
	struct search s = { .address = (uintptr_t)function, .offset = -1 };

	dl_iterate_phdr(look, &s);
	return s.offset;
}
