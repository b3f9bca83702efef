#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sweeps to another guest; the network is cut after some runs, and the same command goes on.
#
# usage: peers_sweep.sh RUNS COMMAND...
# COMMAND is a sweep without --out. Leaves in /out: sweep/, its folder; of the sweep that was cut off when it had RUNS
# runs cut.status, cut.out, cut.err and cut.runs, the sums of its runs; whole.* of the one that went on.
set -euo pipefail
. tests/helpers/saved.sh
least=$1
shift
made() { find /out/sweep/runs -name '*.json' "$@" 2>/dev/null || true; }
runs() { made -exec sha256sum {} + >"/out/$1.runs"; }
sweep=("$@" --quiet --out /out/sweep)

saved cut "${sweep[@]}" &
swept=$!
until [[ $(made | wc -l) -ge $least ]]; do
	kill -0 "$swept" 2>/dev/null || break
	sleep 0.1
done
ip link set eth0 down
wait "$swept"
runs cut
ip link set eth0 up
saved whole "${sweep[@]}"
runs whole
