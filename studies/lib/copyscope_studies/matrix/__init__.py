# SPDX-License-Identifier: GPL-2.0
"""The table of kernels and paths: which cells there are, their guests, and the table itself."""
