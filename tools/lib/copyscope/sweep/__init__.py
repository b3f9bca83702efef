# SPDX-License-Identifier: GPL-2.0
"""Repeats runs over all combinations of a profile and sums up their records."""
