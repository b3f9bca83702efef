#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs a command in a root that is no mount point, as chroots of builds are: chroot.sh EMPTY_FOLDER COMMAND...
# To be started in a mount namespace of its own, with which the mounts end.
set -eu

place=$1
shift
chmod 755 "$place"
for name in usr sys dev proc tmp etc; do
	mkdir "$place/$name"
done
for name in bin lib lib64 sbin; do
	[ ! -L "/$name" ] || ln -s "usr/$name" "$place/$name"
done
for name in usr sys dev proc; do
	mount --rbind "/$name" "$place/$name"
done
mkdir -p "$place/$(pwd)"
mount --rbind . "$place/$(pwd)"
# shellcheck disable=SC2016 # for the shell inside
exec chroot "$place" sh -c 'cd "$0" && exec "$@"' "$(pwd)" "$@"
