# SPDX-License-Identifier: GPL-2.0
"""One guest in QEMU: its start, its streams and signals, and what it wrote."""
