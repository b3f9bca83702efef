# SPDX-License-Identifier: GPL-2.0
"""trace_run --alternate: several starts of variants that take turns, and what they decide."""
