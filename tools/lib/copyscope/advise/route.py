# SPDX-License-Identifier: GPL-2.0
"""What lies between a service's sockets and their receivers: what the record tells, and on the
machine that was watched its routes, devices and captures.
"""
from __future__ import annotations

import array
import fcntl
import ipaddress
import json
import os
import socket
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common import programs
from copyscope.common.releases import age_key
from copyscope.common.tables import PATHS_OF_NICS, PATHS_OF_ONE_HOST, column
from copyscope.model.choice import Route

REMEDIES = column("causes", "remedy")
# Since then a router leaves pages of users alone.
FORWARDS_PAGES = [6, 17]
HERE, BEYOND, UNKNOWN = "this machine", "a device", "not known"
# Of a socket of packets: every kind is taken (linux/if_ether.h).
ETH_P_ALL = "0003"
SIOCETHTOOL, ETHTOOL_GSG = 0x8946, 0x18
COPYING_KINDS = ("tun",)
TUNNELS = ("wireguard", "gre", "ipip", "sit", "vxlan", "geneve", "xfrm", "ip6tnl", "gretap")


@dataclass(frozen=True)
class Hindrance:
    """Why zero copy would be copied after all, by the name of its cause, and what helps."""

    cause: str
    where: str

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES.get(self.cause, "")


@dataclass(frozen=True)
class Way:
    """Where the bytes of one process go."""

    route: Route
    told: str                       # in words, how that is known
    hindrances: tuple[Hindrance, ...]
    path: str                       # of trace_run, that is most like it
    host: str = ""                  # of path peer: who gets most


def address_of(text: str) -> str:
    """The address alone of "192.0.2.1:80" or "[::1]:80"."""
    return text.rpartition(":")[0].strip("[]").partition("%")[0]


def is_loopback(text: str) -> bool:
    """Whether an address is this host's own by its number."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def takes_pieces(device: str) -> bool | None:
    """Whether a device has scatter-gather; None if it does not say."""
    value = array.array("I", [ETHTOOL_GSG, 0])
    request = struct.pack("16sP16x", device.encode(), value.buffer_info()[0])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, SIOCETHTOOL, request)
    except OSError:
        return None
    return bool(value[1])


def is_captured() -> bool:
    """Whether somebody here takes every packet, as tcpdump does."""
    try:
        lines = Path("/proc/net/packet").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return False
    return any(line.split()[3:4] == [ETH_P_ALL] for line in lines)


def ip_json(*words: str) -> list[dict[str, Any]]:
    """What ip(8) says; nothing where it cannot."""
    try:
        done = programs.run_in_time(["ip", "-j", "-d", *words], "ip", 5)
        return json.loads(done.stdout or "[]")
    except (OSError, ValueError, programs.CommandError):
        return []


class Machine:
    """This machine now. `live`: it is the one that was watched, and the window has just closed."""

    def __init__(self, kernel: str, live: bool) -> None:
        self.kernel, self.live = kernel, live
        self.captured = live and is_captured()
        self.netns = os.stat("/proc/self/ns/net").st_ino if live else None
        self.devices: dict[str, tuple[str, str]] = {}

    def device_to(self, remote: str) -> str:
        """The device that packets to an address leave by; "" if nobody knows."""
        found = ip_json("route", "get", remote)
        return str(found[0].get("dev", "")) if found else ""

    def kind(self, device: str) -> str:
        """What a device is: "" for hardware, else the kernel's name of its kind."""
        if (Path("/sys/class/net") / device / "device").exists():
            return ""
        found = ip_json("link", "show", "dev", device)
        return str(found[0].get("linkinfo", {}).get("info_kind", UNKNOWN)) if found else UNKNOWN

    def behind(self, remote: str) -> tuple[str, str]:
        """What is behind an address: a place, and the name of what copies on the way, or ""."""
        device = self.device_to(remote)
        if device == "lo":
            return HERE, ""
        if device and device not in self.devices:
            self.devices[device] = self.of_device(device)
        return self.devices.get(device, (UNKNOWN, ""))

    def of_device(self, device: str) -> tuple[str, str]:
        """The same of a device."""
        kind = self.kind(device)
        if kind == "":
            return (BEYOND, "") if takes_pieces(device) is not False else \
                (HERE, "no scatter-gather")
        if kind in COPYING_KINDS:
            return HERE, "tun"
        if kind in TUNNELS:
            return UNKNOWN, "below TCP, on the way out"
        # A receiver on this machine, or a hop on the way out of it.
        return UNKNOWN, "" if age_key(self.kernel) >= FORWARDS_PAGES else "forwarding hop"


def by_datagrams(data: dict[str, Any], pids: Collection[int | None]) -> bool:
    """Whether all sockets of processes are those of UDP."""
    found = {each.get("protocol") for each in data["sockets"] if each["pid"] in pids}
    return found == {"udp"}


def sent_bytes(table: dict[str, Any]) -> int:
    """What a socket or a sum sent; nothing if that is not known."""
    return table["counts"].get("accepted_bytes") or 0


def others_ends(sockets: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    """Both addresses of every socket, the other way round: whose peer is one of these is here."""
    return {(each["remote"], each["local"]) for each in sockets}


def of_sockets(data: dict[str, Any], pids: Collection[int | None],
               machine: Machine) -> tuple[dict[str, int], set[tuple[str, str]]]:
    """Bytes that processes sent by where they went, and what copies on the way."""
    ends = others_ends(data["sockets"])
    went: dict[str, int] = {}
    found: set[tuple[str, str]] = set()
    for each in data["sockets"]:
        size = sent_bytes(each)
        if each["pid"] not in pids or not size:
            continue
        remote, local = address_of(each["remote"]), address_of(each["local"])
        place, cause = UNKNOWN, ""
        if is_loopback(remote) or remote == local or (each["local"], each["remote"]) in ends:
            place = HERE
        elif machine.live and each["netns"] == machine.netns:
            place, cause = machine.behind(remote)
        went[place] = went.get(place, 0) + size
        if cause:
            found.add((cause, remote))
    return went, found


def seen_fate(process: dict[str, Any]) -> Route | None:
    """What became of bytes that went by reference already: nothing tells more."""
    fate = process["sum"]["fate"]
    late, uncopied = fate["copied_later_bytes"], fate["uncopied_bytes"]
    referenced = process["sum"]["sites"]["tx_reference"]["bytes"]
    if not referenced or late is None or uncopied is None or not late + uncopied:
        return None
    share = late / (late + uncopied)
    return Route(share, share)


def told_of(went: dict[str, int]) -> str:
    """Where the bytes went, in words."""
    whole = sum(went.values()) or 1
    words = {HERE: "to receivers on this machine, where pages of users are copied on arrival",
             BEYOND: "by devices that take packets in pieces",
             UNKNOWN: "to where the record does not tell"}
    parts = [f"{went[place] / whole:.0%} {words[place]}" for place in words if went.get(place)]
    return "; ".join(parts) or "it sent nothing by a socket that is still listed"


def of_path(path: str, kernel: str) -> Route:
    """The route that the user names by a path of trace_run."""
    copies = path in PATHS_OF_ONE_HOST and path not in PATHS_OF_NICS or \
        path == "forward" and age_key(kernel) < FORWARDS_PAGES
    return Route(float(copies), float(copies))


def find(data: dict[str, Any], process: dict[str, Any], machine: Machine, path: str | None) -> Way:
    """Where the bytes of a service go."""
    went, found = of_sockets(data, process["pids"], machine)
    hindrances = [Hindrance(cause, where) for cause, where in sorted(found)]
    hindrances += [Hindrance(each["cause"], f"{each['bytes']:,} bytes in the window")
                   for each in process.get("causes", []) if each["bytes"]]
    if machine.captured:
        hindrances.append(Hindrance("packet tap on tx", "a capture runs on this machine"))
    whole = sum(went.values())
    seen = seen_fate(process)
    low, high = (went.get(HERE, 0) / whole, 1 - went.get(BEYOND, 0) / whole) if whole else (0., 1.)
    route = Route(1.0, 1.0) if machine.captured else Route(low, high)
    told = told_of(went)
    if path:
        route, told = of_path(path, data["machine"]["kernel"]), f"path {path}, as you say"
    elif seen:
        route = seen
        told = f"{seen.local_low:.0%} of what it sent by reference was copied later all the same"
    peer = chief_peer(data, process["pids"])
    if path or route.local_low >= 0.5 or not peer:
        return Way(route, told, tuple(hindrances), path or "lo")
    return Way(route, told, tuple(hindrances), "peer", peer)


def chief_peer(data: dict[str, Any], pids: Collection[int | None]) -> str:
    """The address elsewhere that processes sent most to; "" if there is none."""
    got: dict[str, int] = {}
    for each in data["sockets"]:
        remote, size = address_of(each["remote"]), sent_bytes(each)
        if each["pid"] in pids and size and not is_loopback(remote):
            got[remote] = got.get(remote, 0) + size
    return max(got, key=lambda each: got[each], default="")
