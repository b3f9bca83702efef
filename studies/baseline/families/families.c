// SPDX-License-Identifier: GPL-2.0
/* Makes the table of families out of their list. */
#include "studies/baseline/families/families.h"

#include <stddef.h>


const struct family *const families[] = {
#define X(name) &family_##name,
	FAMILIES(X)
#undef X
	NULL,
};
