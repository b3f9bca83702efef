// SPDX-License-Identifier: GPL-2.0
/*
 * Search trees that libelf.a and libdw.a of elfutils 0.192 (Debian 13) call and lack; other releases need none of it.
 * One thread reads ELF files here, so that the lock of elfutils' own is left out.
 */
#include <search.h>
#include <stddef.h>

/* It begins as elfutils' own does. */
struct tree {
	void *root;
};
typedef int compare(const void *a, const void *b);

void eu_search_tree_init(struct tree *tree);
void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct tree *tree, compare *by);
void *eu_tfind(const void *key, struct tree *tree, compare *by);
void *eu_tdelete(const void *key, struct tree *tree, compare *by);
void eu_tdestroy(struct tree *tree, void (*free_node)(void *));

void eu_search_tree_init(struct tree *tree)
{
	tree->root = NULL;
}

void eu_tdestroy(struct tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}

void *eu_tsearch(const void *key, struct tree *tree, compare *by)
{
	return tsearch(key, &tree->root, by);
}

void *eu_tfind(const void *key, struct tree *tree, compare *by)
{
	return tfind(key, &tree->root, by);
}

void *eu_tdelete(const void *key, struct tree *tree, compare *by)
{
	return tdelete(key, &tree->root, by);
}
