# SPDX-License-Identifier: GPL-2.0
"""Reads records of the machine baseline: the published report's mistakes, agreement, figures."""
