# SPDX-License-Identifier: GPL-2.0
"""All wrong changes, in the order in which they are tried."""
from __future__ import annotations

from .in_guests import BY_TRAMPOLINES
from .of_kernels import OF_KERNELS
from .of_laws import OF_LAWS
from .of_sites import BY_TRACEPOINTS
from .of_watches import OF_WATCHES

CHANGES = (*OF_LAWS, *OF_WATCHES, *BY_TRACEPOINTS, *BY_TRAMPOLINES, *OF_KERNELS)
