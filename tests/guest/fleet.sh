#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Is one host of a fleet: copyscope.service, started by systemd, and node_exporter count for Prometheus, while a program
# moves payload in a control group of which a second watch, the witness, keeps the ledger.
#
# usage: fleet.sh PREFIX WORK TROUBLE [STATE]
# PREFIX is an installed copy. WORK is of bash. TROUBLE: watcher or exporter is killed in between, restart (of the unit),
# cut (the host is to be cut off), again (it was here before). STATE is the folder that it left. Says "begun TIME"
# of the last reading, and goes on when somebody connects to port 9101; "restarts HOW_OFTEN", "ledger JSON", "settled TIME";
# ends at SIGTERM and leaves its StateDirectory in /out/state.
set -euo pipefail
prefix=$1 work=$2 trouble=$3
state=/var/lib/copyscope/metrics group=/sys/fs/cgroup/work
file=$state/copyscope.prom said=/run/unit.err
echo up
: >"$said"
trap 'cat "$said" >&2' ERR
cp -a "$prefix/." /usr/
mkdir -p /etc/default /run/systemd/system/copyscope.service.d "$state" "$group"
cp packaging/copyscope.service /run/systemd/system/
echo 'COPYSCOPE_OPTIONS=--interval 1' >/etc/default/copyscope
# There is no journal.
printf '[Service]\nStandardError=append:%s\n' "$said" >/run/systemd/system/copyscope.service.d/said.conf
[[ -z ${4-} ]] || cp "$4"/* "$state"
until systemctl is-system-running >/dev/null 2>&1; do sleep 0.2; done
systemctl daemon-reload

serve() {
	local at=build/programs/prometheus-node-exporter
	"$at/prometheus-node-exporter" --library-path "$at/lib" --argv0 prometheus-node-exporter "$at/program" \
		--collector.disable-defaults --collector.textfile "--collector.textfile.directory=$state" \
		--web.listen-address=:9100 --log.level=error &
	served=$!
}
sample() { awk -v name="$1" '$1 == name { print $2 }' "${2:--}"; }
last_reading() { [[ ! -e $file ]] || sample copyscope_last_reading_timestamp_seconds "$file"; }
# Has a reading ended after now?
read_anew() {
	local now
	now=$(date +%s.%N)
	until [[ $(awk -v "now=$now" -v "last=$(last_reading)" 'BEGIN { print (last + 0 > now + 0) }') == 1 ]]; do sleep 0.2; done
}
at_work() { (echo "$BASHPID" >"$group/cgroup.procs" && eval "$work"); }
workload() { build/trace_run "$@" --pass timed --quiet --json /dev/null; }
# A process of the unit: 1 is the exporter, 2 the watcher.
of_unit() { sed -n "$1p" /sys/fs/cgroup/system.slice/copyscope.service/cgroup.procs; }

# The witness ends with the last member of the group.
(echo "$BASHPID" >"$group/cgroup.procs" && exec sleep infinity) &
systemctl start copyscope
serve
read_anew
if [[ $trouble != again ]]; then
	# Each series begins with what is no part of the window.
	at_work
	read_anew
	echo "begun $(last_reading)"
	echo go | nc -l -p 9101 >/dev/null
fi
build/watch --quiet --cgroup "$group" --interval 1 --json-lines /run/witness --json /run/ledger.json &
witness=$!
until [[ -s /run/witness ]]; do
	kill -0 "$witness"
	sleep 0.2
done
at_work
read_anew
case $trouble in
watcher) kill -KILL "$(of_unit 2)" ;;
exporter) kill -KILL "$(of_unit 1)" "$served" ;;
restart) systemctl restart copyscope ;;
esac
case $trouble in
watcher | exporter | restart)
	read_anew
	at_work
	[[ $trouble != exporter ]] || serve
	read_anew
	;;
esac
kill -TERM "$witness"
wait "$witness"
echo "restarts $(systemctl show --property NRestarts --value copyscope)"
echo "ledger $(tr -d '\n' </run/ledger.json)"
if [[ $trouble != cut ]]; then
	systemctl stop copyscope
	cp -r "$state" /out/state
fi
echo "settled $(last_reading)"
trap 'exit 0' TERM
while :; do sleep 0.5; done
