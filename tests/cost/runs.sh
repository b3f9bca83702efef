#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Makes each run of LIST (NAME HOW ARGUMENTS...) in a guest whose clock counts instructions.
#
# usage: runs.sh LIST
# HOW: none (no probes), ours, empty (the same hooks, whose programs do nothing), events (the kernel
# counts runs of programs), bpftrace (tools/copies.bt beside). Leaves /out/NAME.{json,err}, and says which run it makes.
set -euo pipefail
. tests/helpers/witness.sh
tests/cost/softirqs.sh

# Nothing else runs while one of these can. Ordinary tasks would take a part of each second. Of the guest's seconds a
# run takes two.
run=(timeout 60 chrt -f 1 build/trace_run)

beside_bpftrace() {
	local said=$1.err tracer
	shift
	__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace tools/copies.bt >/dev/null 2>"$said" &
	tracer=$!
	until_says PROBES_ATTACHED "$said" "$tracer"
	"${run[@]}" "$@" --verify --pass timed
	end_witness "$tracer" || true
}

while read -r name how words; do
	echo "runs.sh: $name" >&2
	# shellcheck disable=SC2086 # arguments are words
	set -- $words --quiet --json "/out/$name.json"
	case $how in
	none) "${run[@]}" "$@" --verify --pass timed ;;
	ours) "${run[@]}" "$@" --pass counted ;;
	# Its laws do not balance.
	empty) "${run[@]}" "$@" --pass counted --break count-nothing || (($? == 1)) ;;
	events)
		echo 1 >/proc/sys/kernel/bpf_stats_enabled
		"${run[@]}" "$@" --pass counted
		echo 0 >/proc/sys/kernel/bpf_stats_enabled
		;;
	bpftrace) beside_bpftrace "/out/$name.bpftrace" "$@" ;;
	esac </dev/null 2>"/out/$name.err" >/dev/null
done <"$1"
