# SPDX-License-Identifier: GPL-2.0
"""What must hold for the files of the tree, before anything runs."""
