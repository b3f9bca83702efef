// SPDX-License-Identifier: GPL-2.0
/* Walks the segments in memory. dl_iterate_phdr() begins with the program itself. */
#include "studies/baseline/proof/code.h"

#include <link.h>
#include <stdbool.h>
#include <unistd.h>

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

/* Reads whole pages, and so the gaps that a sanitizer poisons between variables. */
__attribute__((no_sanitize("address")))
static int touch(struct dl_phdr_info *module, size_t size, void *data)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		uintptr_t from = module->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
			continue;
		for (uintptr_t at = from & -page; at < from + segment->p_filesz; at += page)
			*(const volatile char *)at;
	}
	return 0;	/* on to the next module */
}

void code_touch(void)
{
	dl_iterate_phdr(touch, NULL);
}

int64_t code_file_offset(const void *function)
{
	struct search s = { .address = (uintptr_t)function, .offset = -1 };

	dl_iterate_phdr(look, &s);
	return s.offset;
}
