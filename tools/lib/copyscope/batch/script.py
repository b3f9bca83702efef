# SPDX-License-Identifier: GPL-2.0
"""Writes what a guest does that makes many runs: each after the other, whatever becomes of it."""
from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

# Bits of /proc/sys/kernel/tainted that a run may add: the kernel died, warned, or hung.
FAULTS = 1 << 7 | 1 << 9 | 1 << 14
# Two lines for each run, and after the second one its record and what it said, as they are: each
# comes home as soon as it is there, so that a guest that dies later takes nothing along.
SCRIPT = """\
faults() {{
	echo $(($(cat /proc/sys/kernel/tainted) & {faults}))
}}
run() {{
	name=$1
	shift
	echo "begin $name"
	rm -f {place}/record.json {place}/said
	"$@" --json {place}/record.json </dev/null >/dev/null 2>{place}/said
	status=$?
	: >>{place}/record.json
	faulty=0
	[ "$(faults)" = "$before" ] || faulty=1
	echo "end $name $status $faulty $(wc -c <{place}/record.json) $(wc -c <{place}/said)"
	cat {place}/record.json {place}/said
	[ $faulty = 0 ] || exit 1
}}
before=$(faults)
"""


def script(runs: Mapping[str, Sequence[str]], place: str = "/out") -> str:
    """A shell script that makes the runs, each a command that takes --json FILE besides."""
    lines = [SCRIPT.format(faults=FAULTS, place=place)]
    return "".join(lines + [f"run {shlex.join([name, *words])}\n" for name, words in runs.items()])
