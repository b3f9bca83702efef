# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: waits for programs that run beside a measurement, and ends witnesses: bpftrace, or what ends as it does.

# until_says WORD FILE PID: until PID has written WORD to FILE; fails if it ends before that.
until_says() {
	until grep -qs "$1" "$2"; do
		kill -0 "$3" || return 1
		sleep 0.1
	done
}

# end_witness PID: has a child print what it counted and end; returns its status.
end_witness() {
	local tenths=0
	# bpftrace 0.17 looks whether it was told to end only when that interrupts its wait for events
	# (BPFtrace::poll_perf_events): told between two of its waits it would go on for ever. So it is told again.
	while kill -0 "$1" 2>/dev/null; do
		((tenths++ % 50)) || kill -TERM "$1" 2>/dev/null || true
		sleep 0.1
	done
	wait "$1"
}
