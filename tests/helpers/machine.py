# SPDX-License-Identifier: GPL-2.0
"""The machine as it was before, to compare with: whatever a run made must be gone after it."""
from __future__ import annotations

import os

from helpers import leftovers, processes
from helpers.patience import Patience

GRACE_S = 20.0


class Machine:
    """What there was at one moment."""

    def __init__(self) -> None:
        self.bpf = leftovers.bpf_objects()
        self.interfaces = leftovers.interfaces()
        self.cgroups = leftovers.cgroups()
        self.namespaces = set(leftovers.network_namespaces())
        self.children = set(processes.children(os.getpid()))

    def left(self) -> dict[str, list]:
        """What there is now and was not before, and no other process accounts for."""
        alive = processes.reap_orphans(self.children)
        ours = {int(words[0]) for words in alive}
        namespaces = [inode for inode, pids in leftovers.network_namespaces().items()
                      if inode not in self.namespaces and pids & ours]
        new_bpf = leftovers.bpf_objects() - self.bpf
        if new_bpf:
            new_bpf -= leftovers.bpf_objects_held()
            # What came or went while we looked is a run beside us.
            new_bpf &= leftovers.bpf_objects()
        return {"processes": alive, "namespaces": namespaces, "bpf": sorted(new_bpf),
                "interfaces": sorted(leftovers.interfaces() - self.interfaces)}

    def wait_until_as_before(self) -> str | None:
        """None once nothing is left, or what still is when the time is up."""
        patience = Patience(GRACE_S)
        while any((left := self.left()).values()):
            if not patience.sleep(0.05):
                return ", ".join(f"{kind} {what}" for kind, what in left.items() if what)
        return None

    def check(self, hint: str = "") -> None:
        """Nothing may be left when the grace is over."""
        left = self.wait_until_as_before()
        assert not left, f"{hint}: left {left}"

    def check_cgroups(self, hint: str = "") -> None:
        """No control group is left; one of somebody else's may be on its way out."""
        patience = Patience(GRACE_S)
        while left := leftovers.cgroups_abandoned() - self.cgroups:
            assert patience.sleep(0.05), f"{hint}: left {left}"
