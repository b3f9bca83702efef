# SPDX-License-Identifier: GPL-2.0
"""In PID namespaces the other backend counts its own bytes and no others."""
import pytest

from guest.boots import Asked, boot
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, check_books

RELEASE = "6.1"
# The host has each in the short tier.
LATER = ("nested", "foreign_proc")
RUNS = ("own", *LATER, "stranger")


@pytest.fixture(scope="module", name="outcome")
def one_boot(request, tmp_path_factory):
    """The runs that are asked for in one boot, that which shows the sender's number among them."""
    asked = Asked(request)
    runs = " ".join(run for run in RUNS if run == "own" or asked(RELEASE, run))
    return boot(RELEASE, tmp_path_factory.mktemp("containers"),
                ["tests/guest/containers.sh", runs, "A1", PRIME_BYTES, 2, "--messages", PRIME_MESSAGES],
                [])


@pytest.mark.parametrize("run", [pytest.param(run, marks=(pytest.mark.made_by(run), *(
    (pytest.mark.long,) if run in LATER else ()))) for run in RUNS])
def test_every_byte_is_found_in(run, outcome):
    assert outcome.status(run) == 0, outcome.errors(run)
    record = outcome.record(run)
    check_books(record, PRIME_MESSAGES)
    assert record["backend"]["name"] == "trampoline"


@pytest.mark.made_by("stranger")
def test_the_stranger_bore_the_sender_s_number(outcome):
    held = {each["end"]: each["pid"] for each in outcome.record("stranger")["sockets"]}
    assert held["sender"] == int(outcome.text("stranger.pid"))
    assert records.site(outcome.record("stranger"), "rx_copy") == PRIME_BYTES * PRIME_MESSAGES
