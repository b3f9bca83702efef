// SPDX-License-Identifier: GPL-2.0
/* Feeds mutated inputs to the parsers. */
int main(void) { return 0; }
