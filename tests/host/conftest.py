# SPDX-License-Identifier: GPL-2.0
"""Repeats a test of a watch that failed while the kernel ran no program for some hits (docs/WATCH.md)."""
from __future__ import annotations

import pytest

from helpers.windows import Watching

ATTEMPTS = 3


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Calls tests of test_watch_*.py; leaves all others to pytest."""
    if not pyfuncitem.path.name.startswith("test_watch_"):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for left in reversed(range(ATTEMPTS)):
        Watching.unseen = 0
        try:
            pyfuncitem.obj(**arguments)
            break
        except AssertionError:
            if not left or not Watching.unseen:
                raise
    return True
