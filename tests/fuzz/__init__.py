# SPDX-License-Identifier: GPL-2.0
"""Random programs under a watch: what is drawn, how it is run, how the watch is held against the truth."""
