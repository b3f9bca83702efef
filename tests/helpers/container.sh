#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs a command as a privileged container would: container.sh EMPTY_FOLDER COMMAND...
# Its root is an overlay over this machine's, /sys is read-only, /dev has five devices. To be
# started in namespaces of its own (unshare --pid --fork --mount ...), with which all of it ends.
set -eu

place=$1
shift
here=$(pwd)
mount -t tmpfs tmpfs "$place"
mkdir "$place/upper" "$place/work" "$place/root"
mount -t overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" overlay "$place/root"
cd "$place/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/firmware
mount -t tmpfs tmpfs dev
for device in null zero full random urandom; do
	touch "dev/$device"
	mount --bind "/dev/$device" "dev/$device"
done
mkdir before
pivot_root . before
umount -l before
cd "$here"
exec "$@"
