# SPDX-License-Identifier: GPL-2.0
"""Small wrong changes, each of which some test finds; tests/wrong_changes makes them."""
