/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's functions that the plugin must know, and where they lie. */
#ifndef COPYSCOPE_MODEL_FUNCTIONS_H
#define COPYSCOPE_MODEL_FUNCTIONS_H

/* Says a line for each of them that this kernel has. 0, -EPERM if the kernel hides its addresses, or -errno. */
int functions_tell(void);

#endif
