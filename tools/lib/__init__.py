# SPDX-License-Identifier: GPL-2.0
"""The code behind the commands in tools/: what starts them, and the package copyscope."""
