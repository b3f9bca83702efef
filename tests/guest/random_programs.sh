#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs random programs of tests/fuzz in a guest, where trampolines count; its host judges them.
#
# usage: random_programs.sh PYTHON DRAWS
# Leaves in /out what tests/fuzz/suite.py says.
set -euo pipefail

echo up
PYTHONPATH=tests "$1" -S -m fuzz.suite /out "$2" >/out/suite.txt 2>&1
