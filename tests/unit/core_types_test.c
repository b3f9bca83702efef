// SPDX-License-Identifier: GPL-2.0
/* Claims about the types that libbpf relocates by: those that programs name are whole, and no others are there. */
#include <bpf/btf.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/engine/core_types.h"

/* struct outer { const struct inner { u32 a; u32 b[3]; } in; }, struct late { struct foreign *next; alias t; } */
static struct btf *kernel_made(void)
{
	struct btf *btf = btf__new_empty();
	int foreign, number, array, inner, pointer, alias;

	btf__add_enum(btf, "before", 4);
	foreign = btf__add_struct(btf, "foreign", 4096);
	number = btf__add_int(btf, "u32", 4, 0);
	array = btf__add_array(btf, number, number, 3);
	inner = btf__add_struct(btf, "inner", 16);
	btf__add_field(btf, "a", number, 0, 0);
	btf__add_field(btf, "b", array, 32, 0);
	inner = btf__add_const(btf, inner);
	pointer = btf__add_ptr(btf, foreign);
	alias = btf__add_typedef(btf, "alias", number);
	btf__add_struct(btf, "outer", 32);
	btf__add_field(btf, "in", inner, 0, 0);
	btf__add_struct(btf, "late", 8);
	btf__add_field(btf, "next", pointer, 0, 0);
	btf__add_field(btf, "t", alias, 64, 0);
	return btf;
}

/* It names outer by one form of it, and late. */
static struct btf *programs_made(void)
{
	struct btf *btf = btf__new_empty();

	btf__add_struct(btf, "outer___old", 0);
	btf__add_struct(btf, "late", 0);
	btf__add_struct(btf, "absent", 0);
	btf__add_func_proto(btf, 0);
	return btf;
}

static struct btf *written(const struct core_types *types)
{
	FILE *file = tmpfile();
	char path[64];
	struct btf *btf;

	assert_int_equal(core_types_write(types, fileno(file)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	btf = btf__parse(path, NULL);
	fclose(file);
	assert_non_null(btf);
	return btf;
}

static const struct btf_type *found(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, id);
}

TEST(types_that_programs_name_are_whole_and_others_are_left_out)
{
	struct btf *kernel = kernel_made(), *programs = programs_made(), *kept;
	struct core_types *types = core_types_of(kernel, programs);
	const struct btf_type *outer, *late, *inner;

	assert_non_null(types);
	kept = written(types);
	outer = found(kept, "outer");
	late = found(kept, "late");
	assert_non_null(outer);
	assert_non_null(late);
	inner = btf__type_by_id(kept, btf__resolve_type(kept, btf_members(outer)[0].type));
	assert_string_equal(btf__name_by_offset(kept, inner->name_off), "inner");
	assert_int_equal(inner->size, 16);
	assert_int_equal(btf_vlen(inner), 2);
	assert_int_equal(btf_members(inner)[1].offset, 32);
	assert_int_equal(btf__resolve_size(kept, btf_members(inner)[1].type), 12);
	assert_int_equal(btf_members(late)[1].offset, 64);
	assert_true(btf_is_ptr(btf__type_by_id(kept, btf_members(late)[0].type)));
	assert_null(found(kept, "foreign"));
	assert_null(found(kept, "absent"));
	btf__free(kept);
	core_types_free(types);
	btf__free(programs);
	btf__free(kernel);
}

TEST(a_struct_has_its_number_in_the_kernel)
{
	struct btf *kernel = kernel_made(), *programs = programs_made();
	struct core_types *types = core_types_of(kernel, programs);

	assert_int_equal(core_types_number(types, "outer"),
			 btf__find_by_name_kind(kernel, "outer", BTF_KIND_STRUCT));
	assert_int_equal(core_types_number(types, "foreign"), 0);
	assert_int_equal(core_types_number(types, "absent"), 0);
	core_types_free(types);
	btf__free(programs);
	btf__free(kernel);
}

/* Each type of the running kernel that is kept is as long there, its members at the same places. */
TEST(types_of_the_running_kernel_are_as_they_were)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *kept;
	struct core_types *types;
	int compared = 0;

	if (!kernel)
		skip();
	types = core_types_of(kernel, kernel);
	kept = written(types);
	for (uint32_t id = 1; id < btf__type_cnt(kept); id++) {
		const struct btf_type *now = btf__type_by_id(kept, id), *was;
		const char *name = btf__name_by_offset(kept, now->name_off);

		if (!btf_is_struct(now) || !*name || compared == 500)
			continue;
		was = found(kernel, name);
		assert_non_null(was);
		if (found(kept, name) != now)
			continue;
		assert_int_equal(now->size, was->size);
		assert_int_equal(btf_vlen(now), btf_vlen(was));
		for (int i = 0; i < btf_vlen(now); i++)
			assert_int_equal(btf_members(now)[i].offset, btf_members(was)[i].offset);
		compared++;
	}
	assert_int_equal(compared, 500);
	btf__free(kept);
	core_types_free(types);
	btf__free(kernel);
}
