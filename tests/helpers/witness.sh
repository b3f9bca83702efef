# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: waits for programs that run beside a measurement, and ends witnesses: bpftrace, or what ends as it does.

# Nobody writes to it: a wait without a process, which a guest would start for as long as one waits.
exec {never}<> <(:)
pause() { read -rt 0.2 -u "$never" || true; }

# until_says WORD FILE PID: until PID has written WORD to FILE; fails if it ends before that.
until_says() {
	local lines=()
	until [[ "${lines[*]}" = *"$1"* ]]; do
		kill -0 "$3" || return 1
		pause
		mapfile -t lines 2>/dev/null <"$2" || true
	done
}

# end_witness PID: has a child print what it counted and end; returns its status.
end_witness() {
	local turns=0
	# bpftrace 0.17 looks whether it was told to end only when that interrupts its wait for events
	# (BPFtrace::poll_perf_events): told between two of its waits it would go on for ever. So it is told again.
	while kill -0 "$1" 2>/dev/null; do
		((turns++ % 25)) || kill -TERM "$1" 2>/dev/null || true
		pause
	done
	wait "$1"
}
