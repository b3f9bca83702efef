# SPDX-License-Identifier: GPL-2.0
"""What records say, as text for people that several commands print."""
