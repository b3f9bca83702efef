# SPDX-License-Identifier: GPL-2.0
"""Claims about copyscope on the kernel that runs here."""
