# SPDX-License-Identifier: GPL-2.0
"""What a single command needs is installed when that command first needs it, and not before."""
from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from copyscope.common import needs
from helpers.names import ROOT


@pytest.fixture(name="asked")
def fixture_asked(monkeypatch):
    """What set-up was asked for, by root in the tree; nothing is installed."""
    found: list[list[str]] = []
    monkeypatch.setattr(needs, "INSTALLED", False)
    monkeypatch.setattr(needs.os, "geteuid", lambda: 0)
    monkeypatch.setattr(needs, "start", lambda words: found.append([str(each) for each in words]) or SimpleNamespace(wait=int))
    return found


def test_a_program_that_is_there_is_not_asked_for(asked):
    needs.provide_program("sh", "openssh-client")
    assert asked == []


def test_one_that_is_missing_is_asked_for_by_the_set_up_alone(asked):
    needs.provide_program("no-such-program", "openssh-client")
    assert asked == [[str(ROOT / "tools/setup"), "--for", "openssh-client"]]


@pytest.mark.parametrize("name, value", [("INSTALLED", True), ("os", SimpleNamespace(geteuid=lambda: 1000))])
def test_a_package_s_copy_and_who_is_not_root_install_nothing(asked, monkeypatch, name, value):
    monkeypatch.setattr(needs, name, value)
    needs.provide_program("no-such-program", "openssh-client")
    assert asked == []


def test_figures_are_the_first_to_ask_for_matplotlib(asked, monkeypatch):
    monkeypatch.setattr(needs.importlib.util, "find_spec", lambda _: None)
    needs.drawing("json")
    assert asked == [[str(ROOT / "tools/setup"), "--for", "python3-matplotlib"]]


@pytest.mark.parametrize("module", ["dispatch.command", "dispatch.far", "advise.command", "sweep", "records_cmd", "guest.command",
                                    "compare", "fleet", "peers"])
def test_no_command_loads_matplotlib_before_it_draws(module):
    said = subprocess.run([sys.executable, "-c", f"import sys, copyscope.{module}; print('matplotlib' in sys.modules)"],
                          capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT / "tools/lib")})
    assert said.stdout == "False\n", said.stderr
