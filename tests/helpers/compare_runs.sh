#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs trace_run of the tree in the current folder once for each line of LIST (NAME ARGUMENTS...), or watch if
# ARGUMENTS begin with that word, with both halves of path peer on this host. Leaves OUT/NAME.{json,status,txt}. Prints
# "up" first.
#
# usage: compare_runs.sh LIST OUT
set -euo pipefail

list=$1 out=$2
# In place of ssh, and of what sshd says of its connection: starts the last word.
here=(--host here --far "$PWD/build/trace_run" --ssh "sh -c 'for command; do :; done; exec sh -c \"\$command\"' ssh")
export SSH_CONNECTION="127.0.0.1 50000 127.0.0.1 22"
echo up

# Neighbours in a huge page share one reference. What a message pins is compared for small pages.
huge=/sys/kernel/mm/transparent_hugepage/enabled
[[ ! -w $huge || ! -e /out ]] || echo never >"$huge"
ip link set lo up

while read -r name arguments; do
	read -ra words <<<"$arguments"
	program=trace_run
	[[ ${words[0]} != watch ]] || { program=watch && words=("${words[@]:1}"); }
	[[ $arguments != *"--path peer"* ]] || words+=("${here[@]}")
	status=0
	timeout 120 "build/$program" --json "$out/$name.json" "${words[@]}" </dev/null >"$out/$name.txt" \
		2>"$out/$name.err" || status=$?
	echo "$status" >"$out/$name.status"
done <"$list"
