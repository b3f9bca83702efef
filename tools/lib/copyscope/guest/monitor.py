# SPDX-License-Identifier: GPL-2.0
"""Asks QEMU by its monitor (QMP) to stop a guest, to save it, and to let it go on."""
from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

from copyscope.common.patience import within

# How often QEMU is asked how far it is.
ASK_S = 0.01
# What QEMU calls the file that it was given.
FILE = "snapshot"
# Bytes a second; by itself QEMU saves at 128 MiB/s.
NO_LIMIT = 1 << 40
CANCEL_S = 5.0


class MonitorError(Exception):
    """QEMU has ended, has refused or takes too long."""


class Monitor:
    """Our end of the connection to one QEMU's monitor, and the end that QEMU inherits."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.held, self.greeted = b"", False

    def ask(self, command: str, left: Callable[[], float], descriptor: int | None = None,
            **arguments: Any) -> Any:
        """Have QEMU do something, by a descriptor of ours if one is given; return its answer.

        `left` says how many seconds it may still take."""
        if not self.greeted:
            self.greeted = True
            self.ask("qmp_capabilities", left)
        words = json.dumps({"execute": command, "arguments": arguments}).encode()
        try:
            socket.send_fds(self.ours, [words], [] if descriptor is None else [descriptor])
        except OSError:
            raise MonitorError("QEMU has ended") from None
        while True:
            said = json.loads(self._line(left))
            if "error" in said:
                raise MonitorError(said["error"]["desc"])
            # It also greets, and tells of events.
            if "return" in said:
                return said["return"]

    def save(self, descriptor: int, left: Callable[[], float]) -> None:
        """Write the state of a guest that is stopped to a file."""
        self.ask("migrate-set-parameters", left, **{"max-bandwidth": NO_LIMIT})
        self.ask("getfd", left, descriptor, fdname=FILE)
        self.ask("migrate", left, uri=f"fd:{FILE}")
        try:
            while (state := self.ask("query-migrate", left)).get("status") != "completed":
                if state.get("status") == "failed":
                    raise MonitorError(state.get("error-desc", "QEMU could not write it"))
                if left() <= 0:
                    raise MonitorError("it took too long")
                time.sleep(ASK_S)
        except MonitorError:
            self.ask("migrate_cancel", within(CANCEL_S))
            raise

    def wait_restored(self, left: Callable[[], float]) -> None:
        """Wait until the guest is there that QEMU was started to restore."""
        while self.ask("query-status", left)["status"] == "inmigrate":
            time.sleep(ASK_S)

    def _line(self, left: Callable[[], float]) -> bytes:
        """The next line that QEMU says."""
        while b"\n" not in self.held:
            left_s = left()
            if left_s <= 0:
                raise MonitorError("it took too long")
            self.ours.settimeout(left_s)
            try:
                data = self.ours.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                raise MonitorError("QEMU has ended")
            self.held += data
        line, _, self.held = self.held.partition(b"\n")
        return line
