# SPDX-License-Identifier: GPL-2.0
"""What both figures and pages show: the copy map, and the flame graph."""
