# SPDX-License-Identifier: GPL-2.0
"""Starts a tool again in the project's own Python environment."""
from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parents[3] / "build" / "venv"
ENTERED = "COPYSCOPE_ENTERED"


def enter() -> None:
    """Go on in build/venv, whose matplotlib is the one that figures were laid out with.

    Without it (an installed copy) the system's will do.
    """
    python, tool = str(VENV / "bin" / "python"), os.path.realpath(sys.argv[0])
    # Once: an environment that is not found as it is named must not start itself for ever.
    if sys.prefix == str(VENV) or os.environ.get(ENTERED) == tool or not os.access(python, os.X_OK):
        return
    os.environ[ENTERED] = tool
    # As the launcher's first line does; its next ones unblock it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.execv(python, [python, "-S", tool, *sys.argv[1:]])
