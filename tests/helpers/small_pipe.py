# SPDX-License-Identifier: GPL-2.0
"""A pipe that is smaller than any record, so that whoever writes one must wait for its reader."""
from __future__ import annotations

import fcntl
import sys
import termios
import time
from typing import IO

from helpers.patience import Patience

BYTES, PATIENCE_S = 4096, 60


def shrink(reader: IO) -> None:
    """Let the pipe hold no more than a page."""
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, BYTES)


def wait_until_full(reader: IO) -> None:
    """Return when its writer waits."""
    patience = Patience(PATIENCE_S)
    while int.from_bytes(fcntl.ioctl(reader, termios.FIONREAD, bytes(4)), sys.byteorder) < BYTES:
        assert patience.sleep(0.02), "nothing is written"
    time.sleep(0.1)
