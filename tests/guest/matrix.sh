#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Has trace_run make each line of LIST (NAME ARGUMENTS...), beside witnesses if told: bpftrace
# scripts, or programs that say PROBES_ATTACHED on stderr and print what they counted on SIGTERM.
#
# usage: matrix.sh LIST [SCRIPT.bt | PROGRAM]...
# Leaves /out/NAME.{json,status,out,err}, and /out/SCRIPT.{txt,err} or /out/PROGRAM.{txt,err}.
# Prints "up" first, so that whoever waits for the boot knows.
set -euo pipefail
. tests/helpers/witness.sh

list=$1
shift
witnesses=()
echo up

# Neighbours in a huge page share one reference. What a message pins is claimed for small pages.
huge=/sys/kernel/mm/transparent_hugepage/enabled
[[ ! -w $huge ]] || echo never >"$huge"

for script; do
	command=("$script")
	[[ $script != *.bt ]] || command=(bpftrace "$script")
	name=$(basename "$script" .bt)
	# bpftrace says so on stderr when the last probe is attached, which BEGIN does not wait for.
	__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 "${command[@]}" \
		>"/out/$name.txt" 2>"/out/$name.err" &
	witnesses+=($!)
	until_says PROBES_ATTACHED "/out/$name.err" $!
done

# 6.18 and 7.2 may stop a task inside a program and skip the program for other tasks of that CPU
# until it goes on. trace_run notices and tries again; a witness would be short. Tasks under SCHED_FIFO are
# stopped for none of their kind.
scheduled=()
((${#witnesses[@]} == 0)) || scheduled=(chrt -f 1)

# Arguments are words: the list has no quoting, and + stands for a space.
quoted() {
	local name arguments word words
	while read -r name arguments; do
		read -ra words <<<"$arguments"
		printf %s "$name"
		for word in "${words[@]}"; do printf " '%s'" "${word//+/ }"; done
		echo
	done
}

# 1: a run failed, as some are to.
quoted <"$list" | "${scheduled[@]}" build/trace_run --runs /out --pass counted >/dev/null || (($? == 1))

for witness in "${witnesses[@]}"; do
	end_witness "$witness"
done
