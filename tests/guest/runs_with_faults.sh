#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As matrix.sh, but changes a device for as long as a run sends, in each of its tries: each line of LIST
# is NAME FAULT WHERE DEVICE ARGUMENTS..., of which device_faults.c knows the second to fourth.
#
# usage: runs_with_faults.sh LIST
# Leaves /out/NAME.{json,status,out,err}, and in /out/NAME.faults how many changes the last try met.
set -euo pipefail
. tests/helpers/saved.sh

# Above the workload's priority, which device_faults gives the run.
priority=(chrt -f 2)
[[ -v COPYSCOPE_FIFO ]] || priority=()

run_once() {
	local name=$1 how=$2 where=$3 device=$4
	saved "$name" "${priority[@]}" build/tests/guest/device_faults "$how" "$where" "$device" "/out/$name.faults" \
		build/trace_run "${@:5}" --pass counted --json "/out/$name.json"
}

while read -r name how where device arguments; do
	# Arguments are words: the list has no quoting, and + stands for a space.
	read -ra words <<<"$arguments"
	words=("$name" "$how" "$where" "$device" "${words[@]//+/ }")
	run_once "${words[@]}"
	# In a guest that gets little time a run of seconds meets few changes: once more, and longer.
	# One change of an emulated NIC's MTU takes seconds.
	few=1
	[[ $how.$device != mtu.eth? ]] || few=0
	(($(<"/out/$name.faults") > few)) ||
		run_once "${words[@]}" --seconds 20
done <"$1"
