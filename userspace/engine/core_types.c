// SPDX-License-Identifier: GPL-2.0
/* The kernel's types that programs are relocated by (CO-RE), and none of the others. */
#include "userspace/engine/core_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 128 };	/* KSYM_NAME_LEN is 512, a type of ours has 40 */

struct core_types {
	const struct btf *kernel;
	struct btf *kept;
	uint32_t kernel_types;
	uint32_t numbers[];	/* in .kept, by the number in the kernel's; 0: not kept */
};

static const char *name_of(const struct btf *btf, const struct btf_type *type)
{
	return btf__name_by_offset(btf, type->name_off);
}

/* What a relocation can begin at. */
static bool can_begin(const struct btf_type *type)
{
	return type->name_off && (btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type));
}

/* The names of types, as strings of a BTF, which finds them by a hash. NULL without memory. */
static struct btf *names_of(const struct btf *programs)
{
	struct btf *names = btf__new_empty();
	int err = names ? 0 : -ENOMEM;

	for (uint32_t id = 1; id < btf__type_cnt(programs) && err >= 0; id++) {
		const struct btf_type *type = btf__type_by_id(programs, id);
		char name[NAME_BYTES];

		if (!can_begin(type))
			continue;
		/* tls_context___old is a form of tls_context. */
		snprintf(name, sizeof(name), "%s", name_of(programs, type));
		*(strstr(name, "___") ?: name + strlen(name)) = '\0';
		err = btf__add_str(names, name);
	}
	if (err >= 0)
		return names;
	btf__free(names);
	return NULL;
}

static struct btf_type *kept_type(const struct core_types *types, int number)
{
	return (struct btf_type *)btf__type_by_id(types->kept, number);
}

static int keep(struct core_types *types, uint32_t id);

/* 0 or -errno. What is added moves what is there: nothing that is kept is held by its address. */
static int keep_members(struct core_types *types, const struct btf_type *type, int number)
{
	for (int i = 0; i < btf_vlen(type); i++) {
		int member = keep(types, btf_members(type)[i].type);

		if (member < 0)
			return member;
		btf_members(kept_type(types, number))[i].type = member;
	}
	return 0;
}

/* What lies within a type. 0 or -errno. */
static int keep_parts(struct core_types *types, const struct btf_type *type, int number)
{
	int part = 0;

	if (btf_is_composite(type))
		return keep_members(types, type, number);
	if (btf_is_ptr(type)) {
		kept_type(types, number)->type = 0;
	} else if (btf_is_array(type)) {
		part = keep(types, btf_array(type)->type);
		if (part >= 0)
			btf_array(kept_type(types, number))->type = part;
		part = part < 0 ? part : keep(types, btf_array(type)->index_type);
		if (part >= 0)
			btf_array(kept_type(types, number))->index_type = part;
	} else if (btf_is_mod(type) || btf_is_typedef(type)) {
		part = keep(types, type->type);
		if (part >= 0)
			kept_type(types, number)->type = part;
	}
	return part < 0 ? part : 0;
}

/* The number of its copy, or -errno. */
static int keep(struct core_types *types, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(types->kernel, id);
	int number, err;

	if (!id || types->numbers[id])
		return id ? types->numbers[id] : 0;
	number = btf__add_type(types->kept, types->kernel, type);
	if (number < 0)
		return number;
	types->numbers[id] = number;
	err = keep_parts(types, type, number);
	return err ? err : number;
}

static int keep_named(struct core_types *types, const struct btf *names)
{
	int err = 0;

	for (uint32_t id = 1; id < types->kernel_types && err >= 0; id++) {
		const struct btf_type *type = btf__type_by_id(types->kernel, id);

		if (can_begin(type) && btf__find_str((struct btf *)names, name_of(types->kernel, type)) > 0)
			err = keep(types, id);
	}
	return err < 0 ? err : 0;
}

struct core_types *core_types_of(const struct btf *kernel, const struct btf *programs)
{
	uint32_t count = btf__type_cnt(kernel);
	struct core_types *types = calloc(1, sizeof(*types) + count * sizeof(*types->numbers));
	struct btf *names = names_of(programs);

	if (types) {
		types->kernel = kernel;
		types->kernel_types = count;
		types->kept = btf__new_empty();
	}
	if (!types || !names || !types->kept || keep_named(types, names)) {
		core_types_free(types);
		types = NULL;
	}
	btf__free(names);
	return types;
}

void core_types_free(struct core_types *types)
{
	if (types)
		btf__free(types->kept);
	free(types);
}

int core_types_write(const struct core_types *types, int fd)
{
	uint32_t size = 0;
	const char *data = btf__raw_data(types->kept, &size);
	ssize_t written = data ? write(fd, data, size) : -1;

	return written == (ssize_t)size ? 0 : data && written < 0 ? -errno : -ENOMEM;
}

uint32_t core_types_number(const struct core_types *types, const char *name)
{
	int32_t kept = btf__find_by_name_kind(types->kept, name, BTF_KIND_STRUCT);

	for (uint32_t id = 1; kept > 0 && id < types->kernel_types; id++)
		if (types->numbers[id] == (uint32_t)kept)
			return id;
	return 0;
}
