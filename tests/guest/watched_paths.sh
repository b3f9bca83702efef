#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Watches the workload on every path of a list as a foreign program, beside the books of its own run, and
# another program, that splices.
#
# usage: watched_paths.sh LIST BACKEND
# LIST has a line NAME WORDS... for each path, in which + stands for a space; BACKEND is the watch's.
# Leaves /out/NAME-VARIANT.json, the run, and /out/NAME.{json,status,out,err}, the watch.
set -euo pipefail
. tests/helpers/saved.sh

list=$1 backend=$2
export VARIANTS=${VARIANTS-"A1 A3"} BYTES=65536 MESSAGES=${MESSAGES-23}
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

# works NAME WORDS...: what is watched. The workload's variants differ in their ports. What the books of a
# variant that copies say is known before.
works() {
	set -euo pipefail
	local variant port=9001 pass path sender receiver
	for variant in $VARIANTS; do
		pass=counted
		[[ $variant != A1 ]] || pass=timed
		build/trace_run "$variant" "$BYTES" 2 --messages "$MESSAGES" "${@:2}" --port $((port++)) \
			--pass $pass --quiet --json "/out/$1-$variant.json"
	done
	# Stopped, this run is nothing but a path.
	build/trace_run A1 64 1 --seconds 60 "${@:2}" --pass timed --quiet --json /out/path.json &
	path=$!
	sender=$(end_of server)
	receiver=$(end_of client)
	kill -STOP "$sender" "$receiver"
	build/tests/guest/spliced "$sender" "$receiver" "$MESSAGES" "$BYTES"
	kill -CONT "$sender" "$receiver"
	kill -TERM "$path"
	wait "$path" || (($? == 128 + 15))
}
export -f end_of works

while read -r name line; do
	read -ra words <<<"$line"
	words=("${words[@]//+/ }")
	# The kernel may keep programs from running (docs/METHOD.md): the record of a watch says so, a run is made
	# again, and another try hardly ever meets it.
	for _ in 1 2 3; do
		saved "$name" build/watch --backend "$backend" --json "/out/$name.json" -- \
			bash -c 'works "$@"' works "$name" "${words[@]}"
		! grep -qs '"unseen_events": *0' "/out/$name.json" || grep -qs '"attempt": *[2-9]' "/out/$name"-*.json || break
	done
done <"$list"
