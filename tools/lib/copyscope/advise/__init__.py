# SPDX-License-Identifier: GPL-2.0
"""Says of programs that were watched what copying costs them, and whether zero copy would pay."""
