#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As matrix.sh, but changes a device for as long as a run sends, in each of its tries: each line of LIST
# is NAME FAULT NAMESPACE DEVICE ARGUMENTS... .
#   FAULT      flap: down and up; mtu: another MTU; narrow: another MTU of the route to its link
#   NAMESPACE  server or client: that end's; router: that of path forward
#
# usage: runs_with_faults.sh LIST
# Leaves /out/NAME.{json,status,out,err}, and in /out/NAME.faults how many changes the last try met.
set -euo pipefail

# At the workload's priority, or it gets no processor while a run keeps it busy.
[[ ! -v COPYSCOPE_FIFO ]] || chrt -f -p 1 $$ >/dev/null

# Sets server and client, the pids of a run's ends, if their threads are there: then the gate is open.
# Starts no process, which takes too long in an emulated machine.
find_ends() {
	local tries try pids pid words threads
	server='' client=''
	read -ra tries <"/proc/$1/task/$1/children" || true
	for try in "${tries[@]}"; do
		read -ra pids <"/proc/$try/task/$try/children" || true
		for pid in "${pids[@]}"; do
			mapfile -d '' words <"/proc/$pid/cmdline"
			threads=("/proc/$pid"/task/*)
			((${#threads[@]} > 1)) || continue
			[[ ${words[1]-} != server ]] || server=$pid
			[[ ${words[1]-} != client ]] || client=$pid
		done
	done
} 2>/dev/null

# Sets space to the namespace that only a descriptor of the run holds: neither this one nor an end's.
find_router() {
	local holders holder line fd
	read -ra holders <"/proc/$1/task/$1/children" || true
	for holder in "${holders[@]}"; do
		while read -r line; do
			fd=${line% -> *}
			fd=/proc/$holder/fd/${fd##* }
			[[ $line != *' net:['* || $fd -ef /proc/$$/ns/net || $fd -ef /proc/$server/ns/net ||
			   $fd -ef /proc/$client/ns/net ]] || space=$fd
		done < <(ls -l "/proc/$holder/fd")
	done
}

# Lines for ip(8) on one device, as long as a try lasts; counts them. What goes down takes its default
# route along. The MTU of a router's route shrinks step by step, so that it refuses what passed before;
# that of its emulated NIC stays, which would start anew and lose what it holds. A link that falls often
# in a guest that gets little time would carry nothing at all, so it falls eight times.
lines() {
	local server=$1 how=$2 device=$3 route=$4 link=$5 count=0 mtu mtus=(576 1500 9000 1300)
	while kill -0 "$server" 2>/dev/null; do
		[[ $how != flap || $count -lt 8 ]] || { sleep 0.1; continue; }
		mtu=${mtus[count % 4]}
		case $how in
		flap)
			echo "link set $device down"; sleep 0.02; echo "link set $device up"
			[[ -z $route ]] || echo "route replace $route"
			sleep 0.4
			;;
		mtu) echo "link set $device mtu $mtu" ;;
		narrow) echo "route replace $link dev $device mtu $((count < 23 ? 1460 - count * 40 : 580))" ;;
		esac
		count=$((count + 1))
		echo "$count" >"/out/$name.faults"
		[[ $how == flap ]] || sleep 0.1
	done
}

inject() {
	local run=$1 name=$2 how=$3 where=$4 device=$5 server client space='' route link
	while kill -0 "$run" 2>/dev/null; do
		find_ends "$run" || true
		[[ -n $server && -n $client ]] || { sleep 0.02; continue; }
		case $where in
		server) space=/proc/$server/ns/net ;;
		client) space=/proc/$client/ns/net ;;
		router) find_router "$run" ;;
		esac
		# By its path: busybox would take its own ip.
		route=$(nsenter --net="$space" /bin/ip route show default | head -1) || continue
		link=$(nsenter --net="$space" /bin/ip route show dev "$device" scope link | head -1) || continue
		lines "$server" "$how" "$device" "$route" "${link%% *}" |
			nsenter --net="$space" /bin/ip -force -batch - 2>>"/out/$name.ip" || true
	done
}

run_once() {
	local name=$1 how=$2 where=$3 device=$4 status=0 run
	shift 4
	echo 0 >"/out/$name.faults"
	build/trace_run "$@" --pass counted --json "/out/$name.json" \
		</dev/null >"/out/$name.out" 2>"/out/$name.err" &
	run=$!
	inject "$run" "$name" "$how" "$where" "$device"
	wait "$run" || status=$?
	echo "$status" >"/out/$name.status"
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
