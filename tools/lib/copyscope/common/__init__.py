# SPDX-License-Identifier: GPL-2.0
"""What all other packages use: errors, the tree's places, programs of the system, statistics."""
