# SPDX-License-Identifier: GPL-2.0
"""What all commands share: how words are read, and how each failure becomes one line."""
