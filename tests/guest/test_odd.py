# SPDX-License-Identifier: GPL-2.0
"""Odd sockets in guests, where trampolines count: exact, or not measured and said why, as on the host."""
from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from guest.boots import Maker, Outcome as Guest, boot, dealt
from helpers.guest_python import OWN, adding, compiled
from odd.frame import LIFE, WHOLE
from odd.judge import Outcome, broken, record_in
from odd.programs import PROGRAMS
from odd.suite import BY_ITSELF, RUNS, TOGETHER

KERNELS = ("6.1", "7.2")
# Pages are spliced by another function since 6.5, a router copies none since 6.17, SO_PEEK_OFF is there since
# 6.9, and rings and layers above TCP learn with each release.
DIFFER = ("sendfile", "splice_in", "gift", "every_way_in_turns", "full_pipe", "splice_without_scatter_gather", "router",
          "spliced_when_closed",
          "peek_offset",
          *(name for name in PROGRAMS if name.startswith(("uring", "kernel_tls", "sockmap", "mptcp", "repair"))))
SAME = dealt((name for name in PROGRAMS if name not in DIFFER), KERNELS)
# The host has all. Here the short tier has one of each kind of these on both kernels, the others each on one, and a
# sixth of those that do not differ.
ON_BOTH = ("sendfile", "router", "peek_offset", "kernel_tls_sendfile", "sockmap_egress", "mptcp", "uring_zero_copy")
ENCRYPTED = ("spliced_on_encrypted", "spliced_on_encrypted_by_tracepoints")
# The host has no such modules, and no card to spare.
HERE_ALONE = dict.fromkeys(("ipvs_to_container", "plain_to_dnat", "zero_copy_to_dnat", "wireguard"), KERNELS)
# Since 6.11 the kernel refuses none of these.
REFUSED = {"datagrams_without_checksums": KERNELS}
makes = Maker(dealt(DIFFER, KERNELS, hands=2) | SAME | REFUSED | HERE_ALONE | dict.fromkeys(ENCRYPTED, KERNELS), soon=dealt(DIFFER, KERNELS) | dict.fromkeys(ON_BOTH, KERNELS) | {
    name: () for place, name in enumerate(SAME) if place % 12 not in (6, 7)} | HERE_ALONE | dict.fromkeys(ENCRYPTED, ()))
WAYS = (LIFE, WHOLE)
# The other way of each kernel is of the long tier.
SOON = dict(zip(KERNELS, WAYS))


@pytest.fixture(scope="module", name="boots")
def made_when_asked_for(request, tmp_path_factory) -> Callable[[str], Guest]:
    """What its programs left in one boot of a kernel: those that were chosen, or all if a test of all is alone."""
    params = [item.callspec.params for item in request.session.items if item.module is request.module]
    chosen = {(each["guest"], each["name"]) for each in params if "name" in each}
    code = compiled(tmp_path_factory.mktemp("code"), "odd.suite", "odd.crowd")

    @functools.cache
    def made(release: str) -> Guest:
        mine = [name for name in PROGRAMS if makes(release, name)]
        ways = dict.fromkeys(each["way"] for each in params if each["guest"] == release)
        return boot(release, tmp_path_factory.mktemp("odd"), [
            "env", f"PYTHONPYCACHEPREFIX={code}", "tests/guest/odd.sh", OWN, ",".join(ways),
            *([name for name in mine if (release, name) in chosen] or mine)], ["--nics", "2", *adding(code)])
    return made


def in_way(release: str, way: str, *names: str):
    """What a test of a kernel and a way is parametrized by."""
    soon = way == SOON[release] and all(release in makes.soon[name] for name in names)
    return pytest.param(release, *names, way, marks=() if soon else pytest.mark.long)


@pytest.fixture(name="guest")
def one_kernel(boots, request) -> Guest:
    """What the guest of one kernel left."""
    return boots(request.param)


@pytest.mark.parametrize("guest, name, way", [in_way(release, way, name) for release in KERNELS for name, way in RUNS
                                              if makes(release, name)], indirect=["guest"])
def test_an_odd_program_is_counted_exactly_or_not_at_all(guest, name, way):
    outcome = Outcome(guest.folder, name, way, together=name not in BY_ITSELF)
    if outcome.skip():
        pytest.skip(outcome.skip())
    assert not outcome.faults()


@pytest.mark.parametrize("guest, way", [in_way(release, way) for release in KERNELS for way in WAYS], indirect=["guest"])
def test_no_law_breaks_over_all_odd_programs(guest, way):
    assert not broken(record_in(guest.text(f"{TOGETHER}.{way}.json")))
    assert guest.text(f"{TOGETHER}.{way}.status") == "0"
