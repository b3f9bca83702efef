#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Has ebpf_exporter count late copies beside a run that counts them, too.
#
# usage: ebpf_exporter.sh PROGRAM FOLDER
# FOLDER has copyscope.bpf.o and copyscope.yaml. Leaves /out/metrics.txt, /out/A3.json and /out/exporter.log.
set -euo pipefail

echo up
ip link set lo up
"$1" --config.dir="$2" --config.names=copyscope --web.listen-address=127.0.0.1:9435 >/out/exporter.log 2>&1 &
exporter=$!
until wget -q -O /dev/null http://127.0.0.1:9435/metrics 2>/dev/null; do
	kill -0 "$exporter" || { cat /out/exporter.log >&2; exit 1; }
	sleep 0.5
done
build/trace_run A3 4093 2 --messages 23 --path lo --pass counted --quiet --json /out/A3.json
wget -q -O /out/metrics.txt http://127.0.0.1:9435/metrics
kill "$exporter"
