#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Watches programs in a guest, in some of these parts: "whole", one command from before its first call to its
# end; "detail", a run that counts beside the watch; "life", a process in the middle of its life, whose calls
# are counted, too; "kernel", a client in the kernel; "spliced", a disk and a file that the kernel lends, spliced;
# "iscsi" and "drbd", a disk that it lends by iSCSI, or keeps twice; "datagrams", a program that uses UDP; "lost", "handed" and "queued", the same
# with faults; "late", one that begins to in the middle of the window; "holds", zero copy over a wire that delays it; "held", by a ring, and over veth; "ends", sockets that end while the kernel is asked who
# takes their books; "alone", by copyscope-collect in a root that has nothing else.
#
# usage: watch.sh PART..., with PYTHON for "iscsi"
# Leaves /out/PART.{json,err,status}, what programs told, and a record of each run of the workload.
set -euo pipefail
. tests/helpers/saved.sh
. tests/helpers/witness.sh

echo up
# The kernel may stop a task inside a program and skip the program for others until it goes on, but for none of
# the same kind under SCHED_FIFO.
scheduled=()
[[ ! -v COPYSCOPE_FIFO ]] || scheduled=(chrt -f 1)
traffic="build/tests/guest/traffic 12"
refusals=build/tests/guest/refusals

workload() { echo "build/trace_run ${*:2} --pass timed --path lo --quiet --json /out/$1.json"; }

whole() {
	saved whole "${scheduled[@]}" build/watch --json /out/whole.json -- bash -c "
		$(workload A1 A1 4093 2 --messages 23)
		$(workload A3 A3 65536 2 --messages 23)
		$(workload limited A3 65536 2 --messages 23 --memlock 128k)
		$(workload starved A3 65536 2 --messages 23 --optmem 2048)
		$refusals extend >/out/extend.told
		# Each namespace has a limit of its own since 6.8.
		unshare -n bash -c '
			ip link set lo up
			! sysctl -qw net.core.optmem_max=2048 || $refusals both >/out/both.told'
		$traffic </dev/null >/out/whole.told"
}

# The run counts by programs of its own.
detail() {
	saved detail "${scheduled[@]}" build/watch --detail --books calls --cpu --json /out/detail.json -- \
		build/trace_run A3 65536 2 --messages 23 --pass counted --path veth --no-sg --quiet --json /out/detail_run.json
}

hold() {
	saved "$1" "${scheduled[@]}" build/watch --sizes --json "/out/$1.json" -- \
		build/trace_run "$2" 65536 1 --messages 23 --pass timed "${@:3}" --quiet --json "/out/$1_run.json"
}

holds() {
	hold holds A3 --path nic --netem "delay 20ms"
}

held() {
	hold held uring-zc --path nic --netem "delay 20ms"
	hold held.veth A3 --path veth
}

# uses_udp NAME WORD...: leaves what the program told, too.
uses_udp() {
	saved "$1" "${scheduled[@]}" build/watch "${@:2}" --json "/out/$1.json" -- \
		bash -c "echo go | build/tests/guest/datagrams 23 >/out/$1.told"
}

datagrams() { uses_udp datagrams; }

lost() { uses_udp lost.lose-taken --break lose-taken; }

handed() { uses_udp handed.lose-handed --break lose-handed; }

queued() { uses_udp queued.lose-queued --break lose-queued; }

# begin_watch NAME WORD...: leaves its process in $watch once it counts.
begin_watch() {
	"${scheduled[@]}" build/watch "${@:2}" --json "/out/$1.json" >"/out/$1.out" 2>"/out/$1.err" &
	watch=$!
	until_says "window is open" "/out/$1.err" "$watch"
}
# end_watch NAME: asks for its record, and notes how it ended.
end_watch() {
	local status=0
	kill -TERM "$watch"
	wait "$watch" || status=$?
	echo "$status" >"/out/$1.status"
}

life() {
	local target
	mkfifo /run/words
	# shellcheck disable=SC2086 # words
	"${scheduled[@]}" $traffic </run/words >/out/life.told &
	target=$!
	exec 7>/run/words
	until_says ready /out/life.told "$target"
	begin_watch life --sizes --stacks -p "$target"
	echo go >&7
	until_says before /out/life.told "$target"
	end_watch life
	exec 7>&-
	wait "$target"
	rm /run/words
}

late_run() {
	echo "$1" >&7
	until [[ -s /out/$1 && $(wc -l <"/out/$1") == 2 ]]; do sleep 0.2; done
}

# Hooks of UDP are attached once a process of the subject makes a socket: runs before that are told, the one behind it is
# whole. Those of others attach none.
late() {
	local target
	sleep infinity &
	target=$!
	begin_watch late.foreign -p "$target"
	echo go | build/tests/guest/datagrams 23 >/out/late.others
	end_watch late.foreign
	kill "$target"
	rm -f /run/names
	mkfifo /run/names
	(while read -r name; do echo go | build/tests/guest/datagrams 23 >"/out/$name"; done) </run/names &
	target=$!
	exec 7>/run/names
	begin_watch late --interval 1 --json-lines /out/late.lines -p "$target"
	until grep -q '"accepted_bytes": *[1-9]' /out/late.lines; do
		late_run late.before
		sleep 1
	done
	late_run late.told
	end_watch late
	exec 7>&-
	wait "$target"
}

# A client of a network file system, which is the kernel's: its server answers nothing.
kernel() {
	local sink
	build/tests/guest/sink 2049 >/out/kernel.told &
	sink=$!
	until_says ready /out/kernel.told "$sink"
	begin_watch kernel --all
	mkdir -p /run/far
	mount -t nfs -o addr=127.0.0.1,vers=3,nolock,soft,proto=tcp,mountproto=tcp,port=2049,mountport=2049,timeo=5,retrans=0 \
		127.0.0.1:/far /run/far >/out/kernel.mount 2>&1 || true
	kill -TERM "$sink"
	wait "$sink"
	end_watch kernel
}

# serve: lends a file to this machine by NFS, whose tables of exports nobody else fills. Version 3 would need rpcbind.
serve() {
	local nfsd=/proc/fs/nfsd tables=/proc/net/rpc
	modprobe nfsd
	modprobe nfsv4
	[[ -e $nfsd/threads ]] || mount -t nfsd nfsd "$nfsd"
	mkdir -p /run/served /run/far
	mount -t tmpfs none /run/served
	head -c 1500000 /dev/urandom >/run/served/file
	echo nfsd 127.0.0.1 $((2 ** 31 - 1)) here >"$tables/auth.unix.ip/channel"
	# Read-only, to any port, to root, without a check of folders, as file system 0.
	echo here /run/served $((2 ** 31 - 1)) $((0x1 | 0x2 | 0x400 | 0x2000)) -2 -2 0 >"$tables/nfsd.export/channel"
	printf 'here 1 \\x00000000 %s /run/served\n' $((2 ** 31 - 1)) >"$tables/nfsd.fh/channel"
	echo -2 -3 +4 >"$nfsd/versions"
	# A server opens no file earlier.
	echo 10 >"$nfsd/nfsv4gracetime"
	echo tcp 2049 >"$nfsd/portlist"
	echo 1 >"$nfsd/threads"
}

# Which function attaches pages, and how many bytes its calls took, is told by a histogram of the kernel's own.
traced=/sys/kernel/tracing/events/kprobes/spliced
count_splices() {
	local attaches=skb_splice_from_iter
	grep -qw "$attaches" /proc/kallsyms || attaches=do_tcp_sendpages
	[[ -d $traced ]] || echo "r:spliced $attaches bytes=\$retval:s32" >/sys/kernel/tracing/kprobe_events
	echo "hist:keys=common_pid.execname:vals=bytes if bytes > 0" >"$traced/trigger"
}
# told_splices NAME: leaves what it told.
told_splices() {
	cat "$traced/hist" /sys/kernel/tracing/kprobe_profile >"/out/$1.told"
	echo "!hist:keys=common_pid.execname:vals=bytes if bytes > 0" >"$traced/trigger"
}

# both_watch NAME COMMAND...: all that happens meanwhile, by trampolines and by tracepoints.
both_watch() {
	local other
	count_splices
	begin_watch "$1.tracepoint" --all --backend tracepoint
	other=$watch
	begin_watch "$1" --all
	"${@:2}"
	end_watch "$1"
	watch=$other
	end_watch "$1.tracepoint"
	told_splices "$1"
}

# configfs_with SUBSYSTEM: has its settings mounted, which some systems do by themselves.
configfs_with() {
	[[ -d /sys/kernel/config/$1 ]] || mount -t configfs none /sys/kernel/config
}

# A disk that the kernel lends itself by nvme-tcp, which splices what is read and what is written, and a file by nfsd,
# which splices what is read.
spliced() {
	local far=/sys/kernel/config/nvmet/subsystems/far
	modprobe nvmet_tcp
	modprobe nvme_tcp
	configfs_with nvmet
	mkdir -p "$far/namespaces/1" "${far%/*/*}/ports/1"
	truncate -s 16M /run/disk
	echo 1 >"$far/attr_allow_any_host"
	echo 1 >"$far/namespaces/1/buffered_io"
	echo /run/disk >"$far/namespaces/1/device_path"
	echo 1 >"$far/namespaces/1/enable"
	(
		cd "${far%/*/*}/ports/1"
		echo tcp >addr_trtype
		echo ipv4 >addr_adrfam
		echo 127.0.0.1 >addr_traddr
		echo 4420 >addr_trsvcid
		[[ -e subsystems/far ]] || ln -s "$far" subsystems/far
	)
	serve
	both_watch spliced read_both
	echo 0 >/proc/fs/nfsd/threads
}

read_both() {
	printf transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=far,nr_io_queues=1 >/dev/nvme-fabrics
	until [[ -b /dev/nvme0n1 ]]; do sleep 0.1; done
	dd if=/dev/nvme0n1 of=/dev/null bs=65536 count=23 iflag=direct 2>/dev/null
	dd if=/dev/urandom of=/dev/nvme0n1 bs=65536 count=29 oflag=direct 2>/dev/null
	echo 1 >/sys/class/nvme/nvme0/delete_controller
	mount -t nfs4 -o addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.2,proto=tcp,port=2049 127.0.0.1:/ /run/far
	cmp /run/far/file /run/served/file
	umount /run/far
}

# A disk that the kernel lends by iSCSI to a program that counts its connection's bytes.
iscsi() {
	local disk=/sys/kernel/config/target/core/rd_mcp_0/disk
	local portal=/sys/kernel/config/target/iscsi/iqn.2026-11.here:far/tpgt_1
	modprobe iscsi_target_mod
	configfs_with target
	[[ -d $disk ]] || {
		mkdir -p "$disk"
		echo rd_pages=1024 >"$disk/control"
		echo 1 >"$disk/enable"
		mkdir -p "$portal/lun/lun_0" "$portal/np/127.0.0.1:3260"
		ln -s "$disk" "$portal/lun/lun_0/disk"
		echo 0 >"$portal/attrib/authentication"
		echo 1 >"$portal/attrib/generate_node_acls"
		echo 0 >"$portal/attrib/demo_mode_write_protect"
		echo 1 >"$portal/enable"
	}
	both_watch iscsi "$PYTHON" -S tests/guest/iscsi.py 3260 65536 23 >/out/iscsi.ours
}

# A disk that the kernel keeps twice by drbd, over lo: one end has it whole, the other one gets it, and what is written.
drbd() {
	local end
	PATH+=:/lib/drbd
	modprobe brd rd_nr=2 rd_size=4096
	modprobe drbd
	mkdir -p /var/lib/drbd /var/lock /var/run/drbd
	for end in 0 1; do
		[[ ! -e /dev/drbd$end ]] || drbdsetup-84 down "r$end"
		drbdmeta --force "$end" v08 "/dev/ram$end" internal create-md >/dev/null 2>&1
		drbdsetup-84 new-resource "r$end"
		drbdsetup-84 new-minor "r$end" "$end" 0
		drbdsetup-84 attach "$end" "/dev/ram$end" "/dev/ram$end" internal
	done
	both_watch drbd keep_twice
}

keep_twice() {
	local ends=(127.0.0.1:7000 127.0.0.1:7001)
	drbdsetup-84 connect r0 "${ends[0]}" "${ends[1]}" --protocol=C
	drbdsetup-84 connect r1 "${ends[1]}" "${ends[0]}" --protocol=C
	until grep -q "cs:Connected" /proc/drbd; do pause; done
	drbdsetup-84 primary 0 --force
	until grep -q "ds:UpToDate/UpToDate" /proc/drbd; do pause; done
	dd if=/dev/urandom of=/dev/drbd0 bs=65536 count=29 oflag=direct 2>/dev/null
	cp /proc/drbd /out/drbd.ours
	drbdsetup-84 disconnect "${ends[0]}" "${ends[1]}"
}

ends() {
	local tracer
	__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace tests/guest/books_end.bt >/out/ends.told 2>/out/ends.tracer &
	tracer=$!
	until_says PROBES_ATTACHED /out/ends.tracer "$tracer"
	saved ends "${scheduled[@]}" build/watch --json /out/ends.json -- bash -c "
		$(workload ends.run A1 4093 2 --messages 23)
		echo go | build/tests/guest/datagrams 23 >/dev/null"
	end_witness "$tracer"
	build/watch --backend tracepoint --json /out/ends.tracepoint.json -- true 2>/out/ends.tracepoint.err
}

alone() {
	local root=/run/alone
	[[ -d $root ]] || {
		mkdir -p "$root/proc" "$root/sys"
		cp build/copyscope-collect "$root"
		mount --rbind /proc "$root/proc"
		mount --rbind /sys "$root/sys"
	}
	"${scheduled[@]}" chroot "$root" /copyscope-collect --all --table --json /record >/out/alone.out 2>/out/alone.err &
	watch=$!
	until_says "window is open" /out/alone.err "$watch"
	bash -c "$(workload alone.run A1 4093 1 --messages 23)"
	end_watch alone
	mv "$root/record" /out/alone.json
}

for part; do
	# The kernel may skip a program that is interrupted on its processor: the watch says so, and another try
	# hardly ever meets it.
	for _ in 1 2 3 4; do
		rm -f "/out/$part."*
		"$part"
		! grep -qs '"unseen_events": *[1-9]' "/out/$part.json" || continue
		break
	done
done
