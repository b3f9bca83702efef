# SPDX-License-Identifier: GPL-2.0
"""Packets that pass one device on top of another: the kernel shows them leaving twice, and a watch counts them once."""
from __future__ import annotations

import sys

from helpers.records import needs_root
from helpers.watch_tool import broken, record_of, watch

pytestmark = needs_root
SENDS, BYTES = 23, 40_930

READER = ("import socket; s = socket.create_server(('10.8.0.2', 7777)); print('ready', flush=True)\n"
          "c, _ = s.accept()\n"
          "while c.recv(65536): pass")
WRITER = ("import socket; c = socket.create_connection(('10.8.0.2', 7777))\n"
          "c.setsockopt(socket.SOL_SOCKET, 60, 1)\n"
          f"for _ in range({SENDS}): c.send(bytes({BYTES}), 0x4000000)\n"
          "c.shutdown(1); c.recv(1)")
# A tunnel over a pair of devices, whose other end is in a namespace that lasts as long as its reader.
TUNNEL = """
set -e
mkfifo "$1/ready"
unshare -n "$2" -c 'import sys; sys.stdin.read()' <"$1/ready" &
there=$!
exec 7>"$1/ready"
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add v0 type veth peer name v1 netns $there
end() { # of devices: pair, own address, the other's, address in the tunnel
    ip addr add $2/24 dev $1
    ip link set $1 up
    ip link add x0 type vxlan id 7 dstport 4789 remote $3 dev $1
    ip addr add $4/24 dev x0
    ip link set x0 up
}
export -f end
end v0 10.7.0.1 10.7.0.2 10.8.0.1
nsenter -n -t $there bash -ec 'end v1 10.7.0.2 10.7.0.1 10.8.0.2'
coproc READER { nsenter -n -t $there "$2" -c "$3"; }
read -r <&"${READER[0]}"
"$2" -c "$4"
"""


def test_a_packet_that_leaves_by_two_devices_departs_once(tmp_path):
    done = watch("--json", tmp_path / "r.json", "--quiet", "--", "unshare", "-n", "bash", "-c", TUNNEL,
                 "tunnel", tmp_path, sys.executable, READER, WRITER)
    assert done.returncode == 0, done.stderr
    record = record_of(tmp_path / "r.json")
    sender, = [each for each in record["sockets"] if each["remote"] == "10.8.0.2:7777"]
    assert sender["sites"]["tx_reference"]["bytes"] == SENDS * BYTES and not broken(record)
    law = sender["laws"]["reference queue"]
    if "sent again" not in (law["why"] or ""):
        assert (law["status"], law["left"], law["right"]) == ("balanced", SENDS * BYTES, SENDS * BYTES)
