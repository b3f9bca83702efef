# SPDX-License-Identifier: GPL-2.0
"""Which service a process is of: its unit of systemd, its container, or its program and user."""
