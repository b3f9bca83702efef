#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Has systemd start copyscope.service as it is installed, moves payload, and again after a restart of the unit.
#
# usage: unit.sh PREFIX
# PREFIX is an installed copy. Leaves /out/{first,second}.prom, /out/shown and what the unit said, /out/unit.err.
set -euo pipefail
file=/var/lib/copyscope/metrics/copyscope.prom
echo up
cp -a "$1/." /usr/
mkdir -p /etc/default /run/systemd/system/copyscope.service.d
cp packaging/copyscope.service /run/systemd/system/
echo 'COPYSCOPE_OPTIONS=--interval 1' >/etc/default/copyscope
# There is no journal.
printf '[Service]\nStandardError=append:/out/unit.err\n' >/run/systemd/system/copyscope.service.d/said.conf
until systemctl is-system-running >/dev/null 2>&1; do sleep 0.2; done
systemctl daemon-reload

last_reading() { [[ ! -e $file ]] || awk '$1 == "copyscope_last_reading_timestamp_seconds" { print $2 }' "$file"; }
# Has a reading ended after now?
read_anew() {
	local now
	now=$(date +%s.%N)
	until [[ $(awk -v "now=$now" -v "last=$(last_reading)" 'BEGIN { print (last + 0 > now + 0) }') == 1 ]]; do sleep 0.2; done
}
work() {
	build/trace_run A1 4093 2 --messages 23 --path lo --pass timed --quiet --json /dev/null
	read_anew
}

systemctl start copyscope
read_anew
work
cp "$file" /out/first.prom
systemctl restart copyscope
read_anew
work
systemctl show --property ActiveState,SubState,NRestarts,MainPID copyscope >/out/shown
systemctl stop copyscope
cp "$file" /out/second.prom
systemctl show --property Result copyscope >>/out/shown
