#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Makes each run of LIST (NAME ARGUMENTS...), in a guest whose clock counts instructions, with nothing beside
# it and beside each way to look at all TCP sockets, in turn. The first line of LIST says how many turns, and
# which ways.
#
# usage: watch_runs.sh LIST
# Leaves /out/NAME.KIND.TURN.json for the kinds none, sequence, calls (books of copyscope watch), sizes, stacks, sampled
# (stacks by one byte of 64 KiB), tracepoints (sequence books on that backend), one (a program that does nothing at a
# single function, which each receive passes) and tcptop; turns from 0.
set -euo pipefail
. tests/helpers/witness.sh
tests/cost/softirqs.sh

# As bcc's tcptop counts: what is asked of tcp_sendmsg, and what readers free.
declare -A traced=(
	[tcptop]='kprobe:tcp_sendmsg { @sent[pid] = sum(arg2); } kprobe:tcp_cleanup_rbuf /arg1 > 0/ { @got[pid] = sum(arg1); }'
	[one]='kfunc:tcp_recvmsg_locked { if (0) { exit(); } }'
)
declare -A words_of=([sequence]=--books=sequence [calls]=--books=calls [sizes]=--sizes [stacks]=--stacks
	[sampled]=--stacks=64
	[tracepoints]=--backend=tracepoint)

look() {
	case $1 in
	none) sleep 9999 & ;;
	one | tcptop)
		__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace -e "${traced[$1]}" >/dev/null 2>"/out/$1.err" &
		until_says PROBES_ATTACHED "/out/$1.err" $!
		;;
	*)
		build/watch --all "${words_of[$1]}" >"/out/$1.txt" 2>"/out/$1.err" &
		until_says "window is open" "/out/$1.err" $!
		;;
	esac
}

run() {
	# Nothing else runs while this can.
	# shellcheck disable=SC2086 # arguments are words
	chrt -f 1 build/trace_run $2 --verify --pass timed --quiet --json "/out/$1.json" \
		</dev/null 2>"/out/$1.err" >/dev/null
}

measure() {
	local kind=$1 turn=$2 beside asked='' name words
	look "$kind"
	beside=$!
	while read -r name words; do
		# A watch hooks packets once it sees such a send, for which it must run.
		if [[ $words == A3* && ! $asked ]]; then
			run "asks.$kind" "A3 64 1 --path lo --messages 10"
			sleep 1
			asked=1
		fi
		run "$name.$kind.$turn" "$words"
	done < <(tail -n +2 "$list")
	end_witness "$beside" || true
}

list=$1
read -r turns kinds <"$list"
for ((turn = 0; turn < turns; turn++)); do
	for kind in none $kinds; do
		measure "$kind" "$turn"
	done
done
