# SPDX-License-Identifier: GPL-2.0
"""Gives up what root may do beyond its own files: the exporter needs no more."""

from __future__ import annotations

import ctypes
import os

from copyscope.common.errors import Refused

CAP_KILL = 5  # the watch, which is another user, is to be ended by a signal
VERSION_3 = 0x20080522
PR_SET_NO_NEW_PRIVS = 38


class Header(ctypes.Structure):
    """Of capset(2)."""

    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class Sets(ctypes.Structure):
    """Half of the capabilities."""

    _fields_ = [
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    ]


def give_up() -> None:
    """Keep CAP_KILL alone, for this thread, those that it starts, and programs of theirs."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    sets = (Sets * 2)(Sets(1 << CAP_KILL, 1 << CAP_KILL, 0), Sets())
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.capset(
        ctypes.byref(Header(VERSION_3, 0)), sets
    ):
        # Where CAP_KILL itself is missing, as in a container.
        none = (Sets * 2)()
        if libc.capset(ctypes.byref(Header(VERSION_3, 0)), none):
            raise Refused(
                f"the kernel refuses to take privileges away: {os.strerror(ctypes.get_errno())}"
            )
