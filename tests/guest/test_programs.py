# SPDX-License-Identifier: GPL-2.0
"""In guests, where trampolines count, books say what foreign programs say themselves, as on the host."""
from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from guest.boots import boot
from helpers import foreign
from helpers.guest_python import OWN, adding, place_of

KERNEL = "6.12"
# This kernel alone has kernel TLS: on the host these are skipped.
TLS = ("test_watch_tls.py",)
# What keeps a slow guest busy for minutes.
PROGRAMS = ("test_watch_programs.py", "test_watch_books.py::test_a_window_opens_among_connections_that_come_and_go")
SERVERS = ("test_watch_servers.py",)
# What the tests import besides the standard library.
MODULES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
# The tests' own programs besides those of helpers/foreign.py.
TOOLS = ("curl", "openssl")
SETTINGS = ("/usr/lib/ssl/openssl.cnf", "/etc/ssl/openssl.cnf")
# Part of a test's name -> part of the reason why a guest cannot run it. The compiler of haproxy was told that
# every processor has cmpxchg16b; see tools/lib/copyscope/guest/kernels.
CANNOT_RUN = {"haproxy": "cmpxchg16b", **({} if foreign.SELF_TEST else {"kernels_own_test": "COPYSCOPE_MSG_ZEROCOPY"})}


def pack(archive: Path) -> None:
    """Pack what has no place of its own in the guest: ldd would look for the libraries of Debian's
    programs on this machine."""
    with tarfile.open(archive, "w", dereference=True) as tar:
        for name in foreign.WATCHED:
            tar.add(foreign.PLACE / name, f"copyscope/build/programs/{name}")
        for name in MODULES:
            found = place_of(name)
            tar.add(found, f"modules/{found.name}",
                    filter=lambda each: None if "__pycache__" in each.name else each)


@pytest.mark.long
@pytest.mark.parametrize("tests", [TLS, PROGRAMS, SERVERS], ids=["tls", "programs", "servers"])
def test_foreign_programs_are_counted_as_on_the_host(tmp_path, tests):
    archive = tmp_path / "programs.tar"
    pack(archive)
    added = [archive, *(file for file in SETTINGS if Path(file).exists()),
             *(Path(shutil.which(name)).resolve() for name in TOOLS)]
    if OWN.name != "python3":
        added.append(OWN.with_name("python3"))
    if foreign.SELF_TEST:
        added.append(foreign.SELF_TEST)
    command = ["tests/guest/programs.sh", archive, foreign.SELF_TEST or "", *(f"tests/host/{test}" for test in tests)]
    outcome = boot(KERNEL, tmp_path / "out", command, adding(*added))
    cases = {f"{case.get('classname').rpartition('.')[2]}.{case.get('name')}": case
             for case in ElementTree.fromstring(outcome.text("programs.xml")).iter("testcase")}
    assert {name.partition(".")[0] for name in cases} == {test.partition(".")[0] for test in tests}
    said = {name: each.get("message") for name, case in cases.items() for each in case}
    assert not {name: message for name, message in said.items()
                if not any(part in name and reason in message for part, reason in CANNOT_RUN.items())}
