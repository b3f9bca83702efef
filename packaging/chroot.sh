# SPDX-License-Identifier: GPL-2.0
# Sourced by scripts: makes a small Debian in a folder, from the archive that this machine uses, and
# runs commands in it.
# shellcheck shell=bash

# The caller has die STATUS MESSAGE, and names the tree in "root".
chroot_needs() {
	((EUID == 0)) || die 3 "a chroot needs root: type sudo $0"
	command -v mmdebstrap >/dev/null || die 3 "mmdebstrap is missing: apt-get install mmdebstrap"
}

# chroot_sources SUITE [ARCHITECTURE]: the lines of its sources.list. COPYSCOPE_DEBIAN_MIRROR may name a mirror.
chroot_sources() {
	PYTHONPATH=${root:?}/tools/lib python3 -B - "$@" <<-'END'
		import subprocess, sys
		from copyscope.guest import debian
		from copyscope.common.errors import CommandError
		suite = sys.argv[1]
		arch = sys.argv[2] if len(sys.argv) > 2 else subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
		                      check=True).stdout.strip()
		try:
		    archives = debian.archives()
		except CommandError as error:
		    sys.exit(str(error))
		more = [] if suite in ("sid", "unstable") else [f"{suite}-updates", f"{suite}-security"]
		for each in (suite, *more):
		    print(*archives.lines(each, arch), sep="", end="")
	END
}

# chroot_make SUITE FOLDER VARIANT PACKAGE,...: a new one; another that was there is removed.
chroot_make() {
	chroot_remove "$2"
	mkdir -p "$(dirname "$2")"
	chroot_sources "$1" | mmdebstrap --quiet --variant="$3" --include="$4" \
		--aptopt='Acquire::Languages "none"' "$1" "$2" - ||
		die 1 "no chroot of $1 could be made: see above"
	cp -L /etc/resolv.conf /etc/hosts "$2/etc/"
}

# chroot_run FOLDER COMMAND...: as root, with the kernel's own file systems. These mounts, and all
# that the command starts, end with it, and with this script: unshare ignores SIGTERM, so it is killed.
chroot_run() {
	local folder=$1

	shift
	# shellcheck disable=SC2016 # for the shell inside
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child ${CHROOT_OFFLINE:+--net} bash -c '
		set -e
		mount --rbind /sys "$1/sys"
		mount --rbind /dev "$1/dev"
		mount -t proc proc "$1/proc"
		mount -t tmpfs tmpfs "$1/run"
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
			LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$@"
	' bash "$folder" "$@" </dev/null
}

chroot_remove() {
	[[ ! -e $1 ]] || rm -rf --one-file-system "$1"
}
