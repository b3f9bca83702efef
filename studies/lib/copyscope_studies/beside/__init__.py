# SPDX-License-Identifier: GPL-2.0
"""Runs tools/baseline beside lmbench, a suite that others wrote, and compares what they measure."""
