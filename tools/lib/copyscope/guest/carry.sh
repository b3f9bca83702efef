#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# Runs the guest's job, and hands back what it wrote; /init opened the ports.
# shellcheck shell=dash
# No -e: the kernel panics when its first process ends, so a failed step must not end this one.
set -u

# shellcheck source=/dev/null
. /job/settings # MARK STARTED SAVE_OUT
# A port can be opened only once, but a command may open /dev/stdout anew: give it pipes.
mkfifo /run/stdout /run/stderr
chmod 622 /run/stdout /run/stderr
cat /run/stdout >&3 &
stdout_pump=$!
cat /run/stderr >&4 &
stderr_pump=$!
# What comes from tools/guest by the fourth port is for the command and what it started, as a
# terminal's Ctrl-C would be. Reading it is the shell's job that runs beside: a command that ran
# beside would start with SIGINT ignored.
{
	# Before the port is there it cannot be opened.
	until [ -c /dev/vport0p4 ]; do sleep 0.02; done
	while :; do
		while read -r name; do
			until [ -s /run/command ]; do sleep 0.02; done
			kill -s "$name" -- "-$(cat /run/command)"
		done </dev/vport0p4
		sleep 0.1
	done
} 3>&- 4>&- 5>&- &
# To the console: tools/guest starts a machine again that dies before this line.
echo "<3>$STARTED" >/dev/kmsg
setsid /job/command </dev/null >/run/stdout 2>/run/stderr 3>&- 4>&- 5>&-
status=$?

# What COMMAND left running would hold the pipes open, and change /out while it is saved. Only the
# kernel's own threads have no program; a command line is missing in the middle of execve() too.
# Again until none is found: one that was being forked was not in the list.
found=yes
while [ -n "$found" ]; do
	found=
	for process in /proc/[0-9]*; do
		pid=${process#/proc/}
		case $pid in 1 | "$$" | "$stdout_pump" | "$stderr_pump") continue ;; esac
		[ -e "$process/exe" ] && kill -9 "$pid" 2>/dev/null && found=yes
	done
done
wait "$stdout_pump" "$stderr_pump"

[ "$SAVE_OUT" = yes ] && tar -c -C /out . >&5
printf '%s\n' "$MARK" >&5
printf '%s\n' "$MARK" >&4
printf '%s%d %d\n' "$MARK" "$status" "$(cat /proc/sys/kernel/tainted)" >&3

# tools/guest ends the machine once it has read the marks. Until then nothing may end here: what is
# written still waits behind a pipe that is full. No sleep is long enough, as a clock that counts
# instructions skips it.
mkfifo /run/never
while :; do read -r _ </run/never; done
