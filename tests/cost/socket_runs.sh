#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Has each program of LIST (NAME WORDS...; build/tests/guest/sockets WORDS) do its work beside each way to look,
# in a guest whose clock counts instructions. The first line of LIST says how many turns, and which ways, which
# take turns; each work warms up first. A line "fresh" has what follows beside a look of its own: what one asks
# of a watch stays attached, and the others would pay for it.
#
# usage: socket_runs.sh LIST
# Leaves /out/NAME.KIND, a line for each turn, of the kinds none, sequence, calls (books of copyscope watch), sizes,
# detail, cpu, stacks, sampled (stacks by one byte of 64 KiB), tracepoints (sequence books on that backend), others (a
# watch of another process), one (a program that does nothing at a single function, which each receive passes) and
# tcptop (as bcc's counts: what is asked of tcp_sendmsg, and what readers free).
set -euo pipefail
. tests/helpers/witness.sh
tests/cost/softirqs.sh

declare -A traced=(
	[tcptop]='kprobe:tcp_sendmsg { @sent[pid] = sum(arg2); } kprobe:tcp_cleanup_rbuf /arg1 > 0/ { @got[pid] = sum(arg1); }'
	[one]='kfunc:tcp_recvmsg_locked { if (0) { exit(); } }'
)
declare -A words_of=([sequence]=--books=sequence [calls]=--books=calls [sizes]=--sizes [detail]=--detail [cpu]=--cpu
	[stacks]=--stacks [sampled]=--stacks=64 [tracepoints]=--backend=tracepoint [others]=--books=sequence)
ip link set lo up

# Sets $beside.
look() {
	local subject=$$
	case $1 in
	none) sleep infinity & ;;
	one | tcptop)
		__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace -e "${traced[$1]}" >/run/look.out 2>/run/look.err &
		until_says PROBES_ATTACHED /run/look.err $!
		;;
	*)
		[[ $1 == others ]] && subject=$idle
		build/watch -p "$subject" "${words_of[$1]}" >/run/look.out 2>/run/look.err &
		until_says "window is open" /run/look.err $! || {
			tail -n 5 /run/look.err >&2
			exit 1
		}
		;;
	esac
	beside=$!
}

# Works once; $program does and nothing else.
work() {
	echo >&7
	said=$((said + 1))
	until (($(wc -l <"$1") == said)); do
		kill -0 "$program"
		sleep 0.1
	done
}

# measure NAME KIND WORDS...: the program is a child, and so of the subject.
measure() {
	local told=/run/told
	rm -f "$told" /run/words
	mkfifo /run/words
	chrt -f 1 build/tests/guest/sockets "${@:3}" </run/words >"$told" &
	program=$!
	said=1
	exec 7>/run/words
	until_says ready "$told" "$program"
	work "$told"
	# The watch may have hooks to attach, for which it must run; connections that were closed wait for a minute.
	sleep 61
	work "$told"
	tail -n 1 "$told" >>"/out/$1.$2"
	exec 7>&-
	wait "$program"
	sleep 61
}

sleep infinity &
idle=$!
read -r turns kinds <"$1"
for ((turn = 0; turn < turns; turn++)); do
	for kind in $kinds; do
		look "$kind"
		while read -r name words; do
			if [[ $name == fresh ]]; then
				end_witness "$beside" || [[ $kind == none ]]
				look "$kind"
			else
				# shellcheck disable=SC2086 # arguments are words
				measure "$name" "$kind" $words
			fi
		done < <(tail -n +2 "$1")
		end_witness "$beside" || [[ $kind == none ]]
	done
done
kill "$idle"
