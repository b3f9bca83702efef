#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# Loads modules by busybox, and waits for those that another process is loading: busybox takes them for loaded.
# shellcheck shell=dash
/bin/busybox modprobe "$@" || exit
# Not for ever: a module that is being loaded may ask for another.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	/bin/busybox grep -q ' Loading ' /proc/modules || break
	/bin/busybox sleep 0.05
done
