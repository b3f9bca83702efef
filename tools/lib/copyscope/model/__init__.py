# SPDX-License-Identifier: GPL-2.0
"""What sending takes, by the prices of the machine baseline; pure."""
