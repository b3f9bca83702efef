#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Is one host of a fleet: a watch over everything writes metrics and, when it ends, its record; meanwhile programs
# move payload.
#
# usage: fleet.sh PYTHON SCRIPT
# SCRIPT is of bash and does the work. Leaves /out/metrics/copyscope.prom, /out/ledger.json, and a record of each run.
set -euo pipefail

echo up
mkdir -p /out/metrics /run/state
PYTHONDONTWRITEBYTECODE=1 "$1" tools/copyscope watch --all --cpu --sizes --interval 1 --state /run/state/state.json \
	--metrics /out/metrics/copyscope.prom --json /out/ledger.json >/out/watch.out 2>/out/watch.err &
watch=$!
until [[ -s /out/metrics/copyscope.prom ]]; do
	kill -0 "$watch" || { cat /out/watch.err >&2; exit 1; }
	sleep 0.2
done
workload() { build/trace_run "${@:2}" --pass timed --quiet --json "/out/$1.json"; }
# shellcheck source=/dev/null
. "$2"
# What moved since the last interval is in the reading that ends the watch.
kill -TERM "$watch"
wait "$watch"
