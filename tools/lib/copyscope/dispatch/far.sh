# SPDX-License-Identifier: GPL-2.0
# Runs on another host by ssh (far.py): takes copyscope-collect from stdin, and becomes it with the words that follow.
# shellcheck shell=sh
# The file has no name any more before its first byte is there, so that nothing can be left of it. The collector ends
# with the connection, which is its stdin.
set -u
umask 077
file=
trap 'rm -f "$file"' EXIT
trap 'exit 3' HUP INT TERM PIPE
# A system may run no program from some of these (mount -o noexec).
for place in "${XDG_RUNTIME_DIR:-/tmp}" /tmp /var/tmp /dev/shm "$HOME"; do
	file=$(mktemp "$place/copyscope.XXXXXXXXXX" 2>/dev/null) || continue
	# The workload of a run, which is the same file, is another user's process.
	printf '#!/bin/sh\n' >"$file" && chmod 755 "$file" && "$file" 2>/dev/null && break
	rm -f "$file"
	file=
done
if [ -z "$file" ]; then
	echo "copyscope: there is no folder there in which a program may be put and run" >&2
	exit 3
fi
exec 3<"$file"
exec 4>"$file"
rm -f "$file"
program=/proc/$$/fd/3
echo "copyscope $(uname -m)"
read -r bytes || exit 3
head -c "$bytes" >&4
exec 4>&-
[ "$(wc -c <"$program")" -eq "$bytes" ] || exit 3
# Bits of CAP_PERFMON and CAP_BPF, which are enough for a watch (--reader 1,0 and its words).
may() {
	[ "$(id -u)" = 0 ] && return
	needs=" is not root"
	[ "${3-}" != run ] || return
	needs="$needs, has no CAP_BPF and CAP_PERFMON"
	[ $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 38 & 3)) = 3 ]
}
if may "$@"; then
	"$program" "$@"
elif sudo -n true 2>/dev/null; then
	sudo -n "$program" "$@"
else
	echo "copyscope: $(id -un) there$needs, and sudo -n refuses" >&2
	exit 3
fi
