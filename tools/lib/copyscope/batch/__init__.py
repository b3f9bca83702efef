# SPDX-License-Identifier: GPL-2.0
"""Makes many runs in few guests: one boot serves them all."""
