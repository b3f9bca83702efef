# SPDX-License-Identifier: GPL-2.0
"""Every odd program: modules enter theirs into the table when they are imported."""
from odd import (  # noqa: F401
    devices,
    fastopen,
    layers,
    lives,
    many,
    receives,
    sends,
    stacked,
    states,
    translated,
    uring,
    wrapped,
)
from odd.frame import PROGRAMS  # noqa: F401
