# SPDX-License-Identifier: GPL-2.0
"""Holds what tools/advise says against what the other way then takes."""
