# SPDX-License-Identifier: GPL-2.0
"""What looking costs, counted in instructions of an emulated processor."""
