# SPDX-License-Identifier: GPL-2.0
"""Runs one odd program: `python3 -m odd NAME TRUTH WAY`."""
import sys

from odd import programs  # noqa: F401
from odd.frame import main

main(*sys.argv[1:])
