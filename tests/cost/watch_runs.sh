#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Makes each run of LIST (NAME ARGUMENTS...), in a guest whose clock counts instructions, once with nothing
# beside it and once beside each way to look at all TCP sockets.
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

for kind in none sequence calls tracepoints one tcptop; do
	look "$kind"
	while read -r name words; do
		# Nothing else runs while this can.
		# shellcheck disable=SC2086 # arguments are words
		chrt -f 1 build/trace_run $words --verify --pass timed --quiet --json "/out/$name.$kind.json" \
			</dev/null 2>"/out/$name.$kind.err" >/dev/null
	done <"$1"
	kill -TERM $!
	wait $! || true
done
