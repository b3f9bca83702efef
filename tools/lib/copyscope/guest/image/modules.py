# SPDX-License-Identifier: GPL-2.0
"""Choose the kernel modules a guest may need, and the tables modprobe finds them by."""
from __future__ import annotations

import lzma
import re
from pathlib import Path

# Loaded before COMMAND starts; what is built into a kernel is simply not found.
BOOT = ("virtio_pci", "virtio_console", "veth")
# Loaded when COMMAND, or the kernel on its behalf, asks for them.
ON_DEMAND = ("virtio_net", "vmxnet3", "af_packet", "tun", "tap", "bridge", "dummy", "ifb",
             "macvlan", "vxlan", "vhost_net", "tls", "gcm", "ctr", "ghash_generic", "tcp_bbr",
             "tcp_diag", "inet_diag", "unix_diag", "sch_netem", "sch_fq", "sch_tbf", "sch_ingress",
             "cls_bpf", "cls_matchall", "act_mirred", "nf_tables", "nft_chain_nat", "nf_conntrack",
             "xt_MASQUERADE", "nfsv3", "virtio_blk", "crc32c_generic", "crc32c_intel")


class Modules:
    """The modules of one kernel: files, what each needs, and by which names it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = {plain_name(path): path for path in folder.glob("kernel/**/*.ko*")}
        self.data: dict[str, bytes] = {}
        for name in BOOT + ON_DEMAND:
            self._take(name)

    def _take(self, name: str) -> None:
        """Read a module and, after it, all that it depends on."""
        if name in self.data or name not in self.paths:
            return
        path = self.paths[name]
        data = path.read_bytes()
        self.data[name] = lzma.decompress(data) if path.suffix == ".xz" else data
        for needed in self.needs(name):
            self._take(needed)

    def needs(self, name: str) -> list[str]:
        """Return the modules that `name` names as its direct dependencies."""
        listed = ",".join(self._info(name, "depends"))
        return [needed.replace("-", "_") for needed in listed.split(",") if needed]

    def chain(self, name: str) -> list[str]:
        """Return all dependencies of `name`, nearest first, as modules.dep wants them."""
        chain: list[str] = []
        for needed in self.needs(name):
            # The last mention counts: what is needed most deeply must be loaded first.
            for link in [needed, *self.chain(needed)]:
                if link in chain:
                    chain.remove(link)
                chain.append(link)
        return [link for link in chain if link in self.data]

    def _info(self, name: str, field: str) -> list[str]:
        """Read a field of the .modinfo section; `field=` starts a string there."""
        pattern = rb"\0" + field.encode() + rb"=([\x20-\x7e]*)(?=\0)"
        return [value.decode() for value in re.findall(pattern, self.data[name])]

    def file_of(self, name: str) -> str:
        """Return the path of a module below the folder, without compression."""
        return str(self.paths[name].relative_to(self.folder)).removesuffix(".xz")

    def dep(self) -> str:
        """Compose modules.dep, which the unpacked package lacks."""
        return "".join(f"{self.file_of(name)}: {' '.join(map(self.file_of, self.chain(name)))}\n"
                       for name in sorted(self.data))

    def alias(self) -> str:
        """Compose modules.alias."""
        return "".join(f"alias {alias} {name}\n" for name in sorted(self.data)
                       for alias in self._info(name, "alias"))


def plain_name(path: Path) -> str:
    """Return a module's name as the kernel spells it."""
    return path.name.split(".ko")[0].replace("-", "_")
