# SPDX-License-Identifier: GPL-2.0
"""Draws figures from run records: lines, bars and copy maps."""
