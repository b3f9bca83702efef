#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Has each program of LIST (NAME WORDS...; build/tests/guest/sockets WORDS) do its work with nothing beside it
# and beside each kind of watch, in a guest whose clock counts instructions. All kinds take turns, as the
# kernel's tables of what was closed fill up with time; each turn warms up first.
#
# usage: socket_runs.sh LIST
# Leaves /out/NAME.KIND for the kinds none, sequence, calls (books of copyscope watch), tracepoints (sequence
# books on that backend) and others (a watch of another process): a line for each turn.
set -euo pipefail
. tests/helpers/witness.sh
tests/cost/softirqs.sh

declare -A words_of=([sequence]=--books=sequence [calls]=--books=calls [tracepoints]=--backend=tracepoint)
ip link set lo up

# Nothing else runs while this works.
while read -r name words; do
	rm -f /run/words
	mkfifo /run/words
	# shellcheck disable=SC2086 # arguments are words
	chrt -f 1 build/tests/guest/sockets $words </run/words >/run/said 2>/run/said.err &
	program=$!
	exec 7>/run/words
	until_says ready /run/said "$program"
	said=1
	for kind in {,,}{none,sequence,calls,tracepoints,others}; do
		case $kind in
		none) sleep 9999 & ;;
		others) build/watch -p $$ >/run/watch.out 2>/run/watch.err & ;;
		*) build/watch -p "$program" "${words_of[$kind]}" >/run/watch.out 2>/run/watch.err & ;;
		esac
		beside=$!
		[[ $kind == none ]] || until_says "window is open" /run/watch.err "$beside"
		for _ in 1 2; do
			echo >&7
			said=$((said + 1))
			until (($(wc -l </run/said) == said)); do kill -0 "$program"; sleep 0.1; done
		done
		tail -n 1 /run/said >>"/out/$name.$kind"
		kill -TERM "$beside"
		wait "$beside" || [[ $kind == none ]]
		rm -f /run/watch.err
	done
	exec 7>&-
	wait "$program"
done <"$1"
