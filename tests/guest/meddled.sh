#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As matrix.sh, but takes the sender's device down and up, or changes its MTU, while a run sends: each
# line of LIST is NAME flap|mtu ARGUMENTS... .
#
# usage: meddled.sh LIST
# Leaves /out/NAME.{json,status,out,err}, and in /out/NAME.meddled how often it meddled.
set -euo pipefail

# The namespace of a run's server once its threads send: then the gate is open.
namespace_of() {
	local try pid
	for try in $(cat "/proc/$1/task/$1/children"); do
		for pid in $(cat /proc/"$try"/task/*/children); do
			[[ $(tr '\0' ' ' <"/proc/$pid/cmdline") == *" server "* ]] || continue
			[[ $(ls "/proc/$pid/task" | wc -l) -gt 1 ]] && echo "/proc/$pid/ns/net"
		done
	done 2>/dev/null
	return 0
}

# Lines for ip(8), as long as the run lasts: no more than a connection survives.
lines() {
	local turn mtu
	for turn in $(seq 12); do
		kill -0 "$1" 2>/dev/null || break
		if [[ $2 == flap ]]; then
			echo "link set $3 down"; sleep 0.02; echo "link set $3 up"; sleep 0.08
		else
			for mtu in 576 1500 9000 1300; do echo "link set $3 mtu $mtu"; sleep 0.03; done
		fi
		echo "$turn" >"/out/$4.meddled"
	done
}

while read -r name how arguments; do
	status=0 namespace='' device=tx0
	[[ $arguments != *"--path lo"* ]] || device=lo
	# shellcheck disable=SC2086 # arguments are words
	build/trace_run $arguments --json "/out/$name.json" </dev/null >"/out/$name.out" 2>"/out/$name.err" &
	run=$!
	for _ in $(seq 500); do
		namespace=$(namespace_of "$run")
		[[ -z $namespace ]] && kill -0 "$run" 2>/dev/null || break
		sleep 0.02
	done
	# By its path: busybox would take its own ip.
	[[ -z $namespace ]] || lines "$run" "$how" "$device" "$name" |
		nsenter --net="$namespace" /bin/ip -force -batch - || true
	wait "$run" || status=$?
	echo "$status" >"/out/$name.status"
done <"$1"
