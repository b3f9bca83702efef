#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sweeps to another guest; the network is cut after some runs, and the same command goes on.
#
# usage: peers_sweep.sh RUNS COMMAND...
# COMMAND is a sweep without --out. Leaves in /out: sweep/, its folder; cut.status, cut.err and cut.runs of the sweep
# that was cut off when it had RUNS runs; whole.status, whole.err, whole.out and whole.runs of the one that went on.
set -uo pipefail
least=$1
shift
runs() { find /out/sweep/runs -name '*.json' -exec sha256sum {} + >"/out/$1.runs"; }
sweep() { "$@" --out /out/sweep </dev/null; }

sweep "$@" --quiet >/dev/null 2>/out/cut.err &
swept=$!
until [[ $(find /out/sweep/runs -name '*.json' 2>/dev/null | wc -l) -ge $least ]]; do
	kill -0 "$swept" 2>/dev/null || break
	sleep 0.1
done
ip link set eth0 down
wait "$swept"
echo $? >/out/cut.status
runs cut
ip link set eth0 up
# A run that the kernel kept from probes has failed, and is made again by the same command.
for _ in 1 2 3; do
	sweep "$@" --quiet >/out/whole.out 2>/out/whole.err
	status=$?
	[[ $status == 1 ]] || break
done
echo "$status" >/out/whole.status
runs whole
