#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Makes each run of LIST (NAME ARGUMENTS...), in a guest whose clock counts instructions, once with nothing
# beside it and once beside each way to look at all TCP sockets that the first line of LIST names.
#
# usage: watch_runs.sh LIST
# Leaves /out/NAME.KIND.json for the kinds none, sequence, calls (books of copyscope watch), tracepoints
# (sequence books on that backend), one (a program that does nothing at a single tracepoint, which each
# receive passes) and tcptop.
set -euo pipefail

# As bcc's tcptop counts: what is asked of tcp_sendmsg, and what readers free.
declare -A traced=(
	[tcptop]='kprobe:tcp_sendmsg { @sent[pid] = sum(arg2); } kprobe:tcp_cleanup_rbuf /arg1 > 0/ { @got[pid] = sum(arg1); }'
	[one]='rawtracepoint:sock_recv_length { if (0) { exit(); } }'
)
declare -A words_of=([sequence]=--books=sequence [calls]=--books=calls [tracepoints]=--backend=tracepoint)

until_says() { until grep -qs "$1" "$2"; do kill -0 "$3" || exit 1; sleep 0.1; done; }

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

read -r kinds <"$1"
for kind in none $kinds; do
	look "$kind"
	beside=$!
	unset asked
	while read -r name words; do
		# A watch hooks packets once it sees such a send, for which it must run.
		if [[ $words == A3* && ! -v asked ]]; then
			run "asks.$kind" "A3 64 1 --path lo --messages 10"
			sleep 1
			asked=1
		fi
		run "$name.$kind" "$words"
	done < <(tail -n +2 "$1")
	kill -TERM "$beside"
	wait "$beside" || true
done
