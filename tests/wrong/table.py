# SPDX-License-Identifier: GPL-2.0
"""All wrong changes, in the order in which they are tried."""
from __future__ import annotations

from .of_laws import OF_LAWS
from .of_watches import OF_WATCHES

CHANGES = (*OF_LAWS, *OF_WATCHES)
