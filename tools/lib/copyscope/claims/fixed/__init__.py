# SPDX-License-Identifier: GPL-2.0
"""When the predicate of each claim was fixed, by the history of its file."""
