# SPDX-License-Identifier: GPL-2.0
"""Predicts time per message of each variant from the machine baseline and from A1-plain alone."""
