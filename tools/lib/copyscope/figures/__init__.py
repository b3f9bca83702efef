# SPDX-License-Identifier: GPL-2.0
"""Draws figures from run records: lines, bars and copy maps."""
import logging

# Where it cannot keep its cache it takes another folder and says so in two lines; no figure is the
# worse for it, and what the tool has to say is one line.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
