# SPDX-License-Identifier: GPL-2.0
"""The guest's file system: which files are in it, packed as cpio archives."""
