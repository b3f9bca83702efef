# SPDX-License-Identifier: GPL-2.0
"""The Python behind the commands in tools/."""
