// SPDX-License-Identifier: GPL-2.0
/* Symbols, build-id and rules of frames of a file of code, by libelf and libdw. */
#include "userspace/watch/elf_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions may lie in each other: how far back one is looked for that holds an address. */
enum { SYMBOLS_MOST = 1 << 22, INNER_MOST = 16 };

#if defined(__x86_64__)
enum { STACK_REGISTER = 7, FRAME_REGISTER = 6, RETURN_REGISTER = 16 };
#else
enum { STACK_REGISTER = 31, FRAME_REGISTER = 29, RETURN_REGISTER = 30 };
#endif

struct function {
	uint64_t start, bytes;
	const char *name;	/* of the file */
};

struct elf_file {
	Elf *elf;
	Elf *apart;	/* symbols that were stripped off it; NULL: none are known */
	Dwarf *dwarf;
	Dwarf_CFI *frames;
	struct function *functions;	/* owned, by their start */
	int count;
	bool symbols_read, frames_read;
};

/* No mapping: who owns the file may shorten it meanwhile. */
static Elf *open_elf(int fd)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

struct elf_file *elf_file_open(int fd)
{
	Elf *elf = open_elf(fd);
	struct elf_file *f = elf ? calloc(1, sizeof(*f)) : NULL;

	if (f)
		f->elf = elf;
	else
		elf_end(elf);
	return f;
}

void elf_file_add_symbols(struct elf_file *f, int fd)
{
	Elf *apart = open_elf(fd);
	const void *id = NULL, *other = NULL;
	ssize_t bytes = dwelf_elf_gnu_build_id(f->elf, &id);

	if (apart && bytes > 0 && dwelf_elf_gnu_build_id(apart, &other) == bytes && !memcmp(id, other, bytes))
		f->apart = apart;
	else
		elf_end(apart);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	if (f->dwarf)
		dwarf_end(f->dwarf);
	else if (f->frames)
		dwarf_cfi_end(f->frames);
	elf_end(f->elf);
	elf_end(f->apart);
	free(f->functions);
	free(f);
}

void elf_file_identify(struct elf_file *f, struct stack_module *module)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(f->elf, &id);

	if (bytes <= 0 || bytes > BUILD_ID_BYTES)
		return;
	memcpy(module->build_id, id, bytes);
	module->build_id_bytes = bytes;
}

uint64_t elf_file_address(const struct elf_file *f, uint64_t offset)
{
	size_t count = 0;
	GElf_Phdr p;

	elf_getphdrnum(f->elf, &count);
	for (size_t i = 0; i < count && gelf_getphdr(f->elf, i, &p); i++)
		if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
			return offset - p.p_offset + p.p_vaddr;
	return offset;
}

static bool is_function(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF && s->st_size;
}

static void section_read(struct elf_file *f, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;
	struct function *more;
	GElf_Sym s;

	if (count > SYMBOLS_MOST - (size_t)f->count)
		return;
	more = realloc(f->functions, (f->count + count + 1) * sizeof(*more));
	if (!more)
		return;
	f->functions = more;
	for (size_t i = 0; i < count && gelf_getsym(data, i, &s); i++) {
		const char *name = is_function(&s) ? elf_strptr(elf, head->sh_link, s.st_name) : NULL;

		if (name && *name)
			more[f->count++] = (struct function){ s.st_value, s.st_size, name };
	}
}

/* Of several names for one function the plainest comes last, which is found first. */
static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	size_t lines = strspn(x->name, "_"), others = strspn(y->name, "_");

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (lines != others)
		return lines > others ? -1 : 1;
	return strcmp(y->name, x->name);
}

static void sections_read(struct elf_file *f, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			section_read(f, elf, section, &head);
}

static void symbols_read(struct elf_file *f)
{
	f->symbols_read = true;
	sections_read(f, f->elf);
	if (f->apart)
		sections_read(f, f->apart);
	if (f->count)
		qsort(f->functions, f->count, sizeof(*f->functions), by_start);
}

/* The place behind the last function that starts at or before the address. */
static int behind(const struct elf_file *f, uint64_t address)
{
	int low = 0, high = f->count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (f->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* C++ and Rust. */
static void name_plainly(const char *name, char to[STACK_FUNCTION_BYTES])
{
	char *plain = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? cplus_demangle(name, DMGL_AUTO) : NULL;

	snprintf(to, STACK_FUNCTION_BYTES, "%s", plain ? plain : name);
	free(plain);
}

bool elf_file_function(struct elf_file *f, uint64_t address, char name[STACK_FUNCTION_BYTES])
{
	int at;

	if (!f->symbols_read)
		symbols_read(f);
	at = behind(f, address);
	for (int i = at - 1; i >= 0 && i >= at - INNER_MOST; i--)
		if (address - f->functions[i].start < f->functions[i].bytes) {
			name_plainly(f->functions[i].name, name);
			return true;
		}
	return false;
}

/* What exceptions need; Go keeps what debuggers need alone. */
static void frames_read(struct elf_file *f)
{
	f->frames_read = true;
	f->frames = dwarf_getcfi_elf(f->elf);
	if (f->frames)
		return;
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	f->frames = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
}

static bool is_unchanged(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	return !dwarf_frame_register(frame, number, memory, &ops, &count) && !count && !ops;
}

static enum frame_rule rule_of(Dwarf_Frame *frame, uint64_t *bytes)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || count != 1 || ops->atom != DW_OP_bregx)
		return FRAME_UNKNOWN;
	*bytes = ops->number2;
	return ops->number == STACK_REGISTER ? FRAME_BY_STACK : ops->number == FRAME_REGISTER ? FRAME_BY_POINTER :
												FRAME_UNKNOWN;
}

enum frame_rule elf_file_rule(struct elf_file *f, uint64_t address, uint64_t *bytes, bool *in_register)
{
	enum frame_rule rule;
	Dwarf_Frame *frame;

	if (!f->frames_read)
		frames_read(f);
	if (!f->frames || dwarf_cfi_addrframe(f->frames, address, &frame))
		return FRAME_UNKNOWN;
	rule = rule_of(frame, bytes);
	*in_register = RETURN_REGISTER == 30 && is_unchanged(frame, RETURN_REGISTER);
	free(frame);
	return rule;
}
