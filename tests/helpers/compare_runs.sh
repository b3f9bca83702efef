#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs trace_run of the tree in the current folder once for each line of LIST (NAME ARGUMENTS...), and
# both ends of path peer on this host. Leaves OUT/NAME.{json,status,txt}. Prints "up" first.
#
# usage: compare_runs.sh LIST OUT
set -euo pipefail

list=$1 out=$2 port=9123
echo up

# Neighbours in a huge page share one reference. What a message pins is compared for small pages.
huge=/sys/kernel/mm/transparent_hugepage/enabled
[[ ! -w $huge || ! -e /out ]] || echo never >"$huge"
ip link set lo up

while read -r name arguments; do
	read -ra words <<<"$arguments"
	listening=
	if [[ $arguments == *"--path peer"* ]]; then
		timeout 120 build/trace_run --path peer --listen "127.0.0.1:$port" --quiet --json "$out/$name.far.json" \
			</dev/null >/dev/null 2>"$out/$name.far.txt" &
		listening=$!
		words+=(--connect "127.0.0.1:$port")
		until grep -q "$(printf ':%04X .* 0A ' "$port")" /proc/net/tcp; do
			kill -0 $! || break
			sleep 0.05
		done
	fi
	status=0
	timeout 120 build/trace_run "${words[@]}" --json "$out/$name.json" </dev/null >"$out/$name.txt" \
		2>"$out/$name.err" || status=$?
	[[ ! $listening ]] || wait "$listening" || true
	echo "$status" >"$out/$name.status"
done <"$list"
