# SPDX-License-Identifier: GPL-2.0
"""What ip(8) has no word for: addresses that netfilter or IPVS translates, and keys of WireGuard, asked of the kernel."""
from __future__ import annotations

import os
import socket
import struct

NETLINK_NETFILTER, NETLINK_GENERIC = 12, 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE, NLA_F_NESTED = 1, 4, 0x400, 0x8000
NLMSG_ERROR = 2
# nf_tables: messages of its subsystem, between two that hold them together.
NFNL_SUBSYS_NFTABLES, BATCH_BEGIN, BATCH_END = 10, 16, 17
NEWTABLE, NEWCHAIN, NEWRULE = 0, 3, 6
LOCAL_OUT, PRIORITY_DNAT = 3, -100
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, WG_CMD_SET_DEVICE = 16, 3, 1
IP_VS_SO_SET_ADD, IP_VS_SO_SET_ADDDEST = 1154, 1159


def attribute(kind: int, data: bytes | str | list[bytes]) -> bytes:
    """One attribute: bytes, text that ends with a NUL, or attributes in it."""
    if isinstance(data, list):
        kind, data = kind | NLA_F_NESTED, b"".join(data)
    elif isinstance(data, str):
        data = data.encode() + b"\0"
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def number(kind: int, value: int) -> bytes:
    """A number as nf_tables wants it."""
    return attribute(kind, struct.pack(">i", value))


def message(kind: int, flags: int, body: bytes) -> bytes:
    """One message."""
    return struct.pack("IHHII", 16 + len(body), kind, NLM_F_REQUEST | flags, 0, 0) + body


def asked(protocol: int, messages: bytes, answers: int = 1) -> bytes:
    """Sends messages; returns the last answer, or raises the first error that one is."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as line:
        line.send(messages)
        for _ in range(answers):
            answer = line.recv(1 << 16)
            kind, error = struct.unpack_from("4xH10xi", answer)
            if kind == NLMSG_ERROR and error:
                raise OSError(-error, f"netlink: {os.strerror(-error)}")
    return answer


def translate(address: str) -> None:
    """nft add rule ip nat output dnat to ADDRESS: for each connection that begins in this namespace."""
    def part(kind: int, *attributes: bytes, family: int = socket.AF_INET) -> bytes:
        return message(NFNL_SUBSYS_NFTABLES << 8 | kind, NLM_F_CREATE | NLM_F_ACK,
                       struct.pack("BxH", family, 0) + b"".join(attributes))

    def expression(name: str, *attributes: bytes) -> bytes:
        return attribute(1, [attribute(1, name), attribute(2, list(attributes))])

    held = struct.pack(">BxH", 0, NFNL_SUBSYS_NFTABLES)
    asked(NETLINK_NETFILTER, b"".join((
        message(BATCH_BEGIN, 0, held),
        part(NEWTABLE, attribute(1, "nat")),
        part(NEWCHAIN, attribute(1, "nat"), attribute(3, "output"), attribute(7, "nat"),
             attribute(4, [number(1, LOCAL_OUT), number(2, PRIORITY_DNAT)])),
        part(NEWRULE, attribute(1, "nat"), attribute(2, "output"), attribute(4, [
            # Register 1 has the address; "nat" takes it from there for a destination (1) of IPv4 (2).
            expression("immediate", number(1, 1), attribute(2, [attribute(1, socket.inet_aton(address))])),
            expression("nat", number(1, 1), number(2, 2), number(3, 1))])),
        message(BATCH_END, 0, held))), answers=3)


def serve_elsewhere(address: str, port: int, real: str) -> None:
    """ipvsadm -A -t ADDRESS:PORT; ipvsadm -a -t ADDRESS:PORT -r REAL -m."""
    service = struct.pack("=H2x4s2s2xI16sIII", socket.IPPROTO_TCP, socket.inet_aton(address), struct.pack(">H", port),
                          0, b"rr", 0, 0, 0xFFFFFFFF)
    server = struct.pack("=4s2s2xIiII", socket.inet_aton(real), struct.pack(">H", port), 0, 1, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as line:
        line.setsockopt(socket.IPPROTO_IP, IP_VS_SO_SET_ADD, service)
        line.setsockopt(socket.IPPROTO_IP, IP_VS_SO_SET_ADDDEST, service + server)


def wireguard(device: str, port: int, private: bytes, public: bytes, remote: str) -> None:
    """wg set DEVICE listen-port PORT private-key PRIVATE peer PUBLIC endpoint REMOTE:PORT allowed-ips 0.0.0.0/0."""
    named = asked(NETLINK_GENERIC, message(GENL_ID_CTRL, 0, struct.pack("BBH", CTRL_CMD_GETFAMILY, 1, 0)
                                           + attribute(2, "wireguard")))
    # Behind its name stands the family's number.
    family = struct.unpack_from("H", named, named.index(struct.pack("HH", 6, 1)) + 4)[0]
    everywhere = [attribute(1, struct.pack("H", socket.AF_INET)), attribute(2, bytes(4)), attribute(3, b"\0")]
    asked(NETLINK_GENERIC, message(family, NLM_F_ACK, struct.pack("BBH", WG_CMD_SET_DEVICE, 1, 0) + b"".join((
        attribute(2, device), attribute(3, private), attribute(6, struct.pack("H", port)),
        attribute(8, [attribute(0, [
            attribute(1, public), attribute(4, struct.pack("=H", socket.AF_INET) + struct.pack(">H", port)
                                            + socket.inet_aton(remote) + bytes(8)),
            attribute(9, [attribute(0, everywhere)])])])))))
