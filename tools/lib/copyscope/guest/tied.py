# SPDX-License-Identifier: GPL-2.0
"""How other tools start tools/guest: a guest ends with who started it, however that ends."""
from __future__ import annotations

from .architectures import ROOT

GUEST = ROOT / "tools" / "guest"
# Goes before GUEST in a command.
TIED = ("setpriv", "--pdeathsig", "TERM")
