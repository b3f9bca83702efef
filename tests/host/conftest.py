# SPDX-License-Identifier: GPL-2.0
"""What tests on this kernel share: a test of a watch is repeated if the kernel ran no program for some hits
(docs/METHOD.md), and a program to watch."""
from __future__ import annotations

import subprocess
import time

import pytest

from helpers.watch_tool import talk
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


@pytest.fixture(name="busy")
def fixture_busy():
    """A program that talks to itself for a while."""
    with subprocess.Popen(talk(600, 0.05)) as process:
        time.sleep(0.3)
        yield process.pid
        process.kill()
