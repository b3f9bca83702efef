#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Watches the workload on every path of a list as a foreign program, beside the books of its own runs, and
# another program, that splices: all paths in one window.
#
# usage: watched_paths.sh RUNS PATHS BACKEND MESSAGES BYTES
# RUNS is what trace_run --runs reads. PATHS has a line NAME WORDS... for each path, quoted as for a shell; the
# program that splices is on one after the other. BACKEND is the watch's.
# Leaves /out/RUN.json, each run, and /out/watch.{json,status,out,err}.
set -euo pipefail
. tests/helpers/saved.sh

runs=$1 paths=$2 backend=$3
export MESSAGES=$4 BYTES=$5
echo up

# end_of NAME: the process that is this end of the run under way, once it has threads. By the shell alone: what
# it would start would be watched.
end_of() {
	local process tasks words until=$((SECONDS + 60))
	while ((SECONDS < until)); do
		for process in /proc/[0-9]*; do
			tasks=("$process"/task/*)
			((${#tasks[@]} > 1)) || continue
			{ mapfile -t -d '' words <"$process/cmdline"; } 2>/dev/null || continue
			[[ ${words[1]-} = "$1" ]] || continue
			echo "${process#/proc/}"
			return
		done
	done
	return 1
}

# spliced_on WORD...: stopped, this run is nothing but a path.
spliced_on() {
	local path sender receiver
	build/trace_run A1 64 1 --seconds 60 "$@" --pass timed --quiet --json /out/path.json &
	path=$!
	sender=$(end_of server)
	receiver=$(end_of client)
	kill -STOP "$sender" "$receiver"
	build/tests/guest/spliced "$sender" "$receiver" "$MESSAGES" "$BYTES"
	kill -CONT "$sender" "$receiver"
	kill -TERM "$path"
	wait "$path" || (($? == 128 + 15))
}

# works RUNS PATHS: what is watched.
works() {
	set -euo pipefail
	local words
	build/trace_run --runs /out <"$1" >/dev/null
	while read -ra words; do
		eval "words=(${words[*]})"
		spliced_on "${words[@]:1}"
	done <"$2"
}
export -f end_of spliced_on works

# The kernel may keep programs from running (docs/METHOD.md): the record of a watch says so, a run is made
# again, and another try hardly ever meets it.
for _ in 1 2 3 4 5; do
	saved watch build/watch --backend "$backend" --json /out/watch.json -- bash -c 'works "$@"' works "$runs" "$paths"
	! grep -qs '"unseen_events": *0' /out/watch.json || grep -qs '"attempt": *[2-9]' /out/*-*.json || break
done
