#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# The guest's first process: mount, load modules, wait for the job; then run it, or systemd beside it.
# shellcheck shell=dash
# No -e: the kernel panics when its first process ends, so a failed step must not end this one.
set -u

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
# /tmp stays on the root, a tmpfs too: --add may put files there.
mount -t tmpfs -o mode=755 tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr

# shellcheck source=/dev/null
. /job/machine # FORWARDED MODULES
# shellcheck disable=SC2086 # a list of names
modprobe -a $MODULES
ip link set lo up
# The name of a NIC, and its address.
if [ -n "$FORWARDED" ]; then
	ip address add "${FORWARDED#* }" dev "${FORWARDED% *}"
	ip link set "${FORWARDED% *}" up
fi
hostname copyscope-guest
echo 1 >/proc/sys/kernel/kptr_restrict
# A tmpfs root starts writable for all; these limits are those of an installed system.
chmod 755 /
# Where the kernel preempts itself, emulation makes a task stop inside a probe every few thousand
# events, and trace_run would start over each time.
if grep -qsE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt; then
	export COPYSCOPE_FIFO=1
	# The kernel would give ordinary tasks 50 ms of each second, and stop a task under SCHED_FIFO
	# inside a program for them (kernel/sched/deadline.c, the fair server).
	for runtime in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo 0 >"$runtime"; done
	# Softirqs run programs too. At the priority of the workload none of them stops the other.
	for file in /proc/[0-9]*/comm; do
		read -r name <"$file"
		pid=${file#/proc/}
		case $name in ksoftirqd*|rcu*|kworker*) chrt -f -p 1 "${pid%/comm}" >/dev/null 2>&1 ;; esac
	done
fi
ulimit -l 8192
ulimit -Hn 1048576

# A port's name appears a moment before the port can be opened.
for port in /dev/vport0p1 /dev/vport0p2 /dev/vport0p3 /dev/vport0p5; do
	until [ -c "$port" ] && { true >"$port"; } 2>/dev/null; do sleep 0.02; done
done
exec 3>/dev/vport0p1 4>/dev/vport0p2 5>/dev/vport0p3 6<>/dev/vport0p5

# While it waits here tools/guest takes a snapshot, or has just restored one. Nothing above may
# depend on the job, the time or chance.
echo ready >&6
if ! (cd / && exec cpio -idu) <&6 2>/run/cpio; then
	sed 's/^/<3>copyscope: the job did not arrive: /' /run/cpio >/dev/kmsg
	exit 1
fi
read -r now <&6
exec 6>&-
# Not the shell's own, which takes whole seconds alone.
/usr/bin/date -s "@$now" >/dev/null
[ ! -x /copyscope/build/reseed ] || /copyscope/build/reseed </job/seed
rm /job/seed

# The job is then a child of it.
if [ -x /usr/lib/systemd/systemd ]; then
	/carry &
	exec /usr/lib/systemd/systemd --unit=basic.target --log-target=kmsg --show-status=no \
		3>&- 4>&- 5>&-
fi
exec /carry
