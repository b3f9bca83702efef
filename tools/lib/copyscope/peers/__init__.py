# SPDX-License-Identifier: GPL-2.0
"""Two guests on one network, and one run between them."""
