# SPDX-License-Identifier: GPL-2.0
"""The language of predicates: closed, with units, three-valued; pure, and no part of Python."""
