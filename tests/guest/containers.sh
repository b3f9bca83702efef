#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Makes the run of its arguments in PID namespaces, at last beside a stranger of the sender's pid.
#
# usage: containers.sh "NAME..." ARGUMENT...: own, which stranger needs, nested, foreign_proc, stranger
# Leaves /out/NAME.{json,status,err} and /out/stranger.pid; prints "up" first, so that whoever waits
# for the boot knows.
set -euo pipefail
. tests/helpers/saved.sh

echo up
wanted=" $1 "
shift

# run NAME LAST_PID COMMAND...: in a PID namespace that goes on after that number.
run() {
	[[ $wanted = *" $1 "* ]] || return 0
	# shellcheck disable=SC2016 # the inner shell is to see these
	saved "$1" unshare --pid --fork --kill-child "${options[@]}" bash -c '
		echo "$0" >/proc/sys/kernel/ns_last_pid
		exec "$@"' "${@:2}" --json "/out/$1.json"
}

options=(--mount-proc)
run own 1 build/trace_run "$@"
run nested 1 unshare --pid --fork --kill-child --mount-proc build/trace_run "$@"
options=()
run foreign_proc 1 build/trace_run "$@"

[[ $wanted = *" stranger "* ]] || exit 0
build/workload server A1 4096 --seconds 1800 --clients 1 --port 7777 >/dev/null &
stranger=$!
build/workload client 4096 1 --port 7777 >/dev/null &
# Of both ends the sender is started first, in a namespace that began with 1.
sender=$stranger
while read -r _ pid; do
	((pid >= sender)) || sender=$pid
done < <(grep -oE '"pid": [0-9]+' /out/own.json)
options=(--mount-proc)
run stranger $((stranger - sender + 1)) build/trace_run "$@"
kill "$stranger"
wait
echo "$stranger" >/out/stranger.pid
