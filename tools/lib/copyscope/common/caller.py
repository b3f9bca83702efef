# SPDX-License-Identifier: GPL-2.0
"""Who called sudo."""
from __future__ import annotations

import os
import pwd

from .errors import Refused


def caller_uid() -> int | None:
    """The number of the user who called sudo, as it says; None without sudo."""
    said = os.environ.get("SUDO_UID", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) <= 10 else None


def caller() -> pwd.struct_passwd | None:
    """The user other than root who called sudo; None if nobody did. Raises Refused if the number
    is no user's here."""
    uid = caller_uid()
    if os.geteuid() or not uid:
        return None
    try:
        return pwd.getpwuid(uid)
    except (KeyError, OverflowError):
        raise Refused(f"SUDO_UID says that user {uid} called sudo, and nobody has that number "
                      "here: unset it") from None
