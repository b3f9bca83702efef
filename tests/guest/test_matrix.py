# SPDX-License-Identifier: GPL-2.0
"""On every kernel and path at once: one command, no byte lost, and what each path does to pages."""
from __future__ import annotations

import csv
import subprocess

import pytest

from copyscope_studies.matrix.cells import Cell
from guest.boots import AT_A_TIME, RELEASES
from helpers import records
from helpers.names import KERNELS

MATRIX = records.ROOT / "tools" / "matrix"
BYTES, MESSAGES = 65536, 23
PAYLOAD = BYTES * MESSAGES
# A router unshared zero-copy packets until 6.17 (d2527ad3a9e1), and a capture was shown the
# packets of every namespace.
COPIES_WHEN_FORWARDED = SHOWS_ALL_NAMESPACES = ("6.1", "6.12")
VARIANTS = ("A1", "A2", "A3")
EDGES = (KERNELS[0], KERNELS[-1])
BETWEEN = KERNELS[1:-1]
PLAIN_NIC = ("nic", "nic, IPv6", "nic, no TSO", "nic, MTU 9000")
TAPPED_SENDER = ("veth, tap on sender", "nic, tap on sender", "lo, tap")
NO_SG = ("veth, no SG", "nic, no SG")
LOSSY = ("veth, 3 % loss", "nic, 3 % loss")
# What lies between the sockets: the causes of what was copied there, up to 6.12.
CAUSES = {
    "veth, tap on sender": {"packet tap on rx", "packet tap on tx"},
    "forward": {"forwarding hop"},
    "nic, no SG": {"no scatter-gather"},
    "nic, no TSO": set(),  # cut in software, but not copied
    "nic": set(),
}


def made(out, variants, kernels) -> dict:
    """Rows of a table by (kernel, path, variant)."""
    done = subprocess.run(
        [str(word) for word in (MATRIX, "--bytes", BYTES, "--messages", MESSAGES, "--out", out,
                                "--variants", "; ".join(variants), "--kernels", "; ".join(kernels),
                                "--quiet", "--jobs", AT_A_TIME)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open(out / "matrix.csv", newline="", encoding="utf-8") as file:
        rows = [{key: int(text) if text.lstrip("-").isdigit() else text
                 for key, text in row.items()} for row in csv.DictReader(file)]
    found = {(".".join(row["kernel"].split(".")[:2]), row["path"], row["variant"]): row
             for row in rows}
    for (kernel, path, variant), row in found.items():
        row["record"] = out / kernel / f"{Cell(path, variant).name}.json"
    return found


@pytest.fixture(scope="module", name="table")
def whole_table(tmp_path_factory):
    """Rows of the whole table. What a path does to pages is asked on every kernel; nothing happens to
    the pages of variants that copy, which run on the oldest and the newest."""
    return (made(tmp_path_factory.mktemp("edges"), VARIANTS, EDGES) |
            made(tmp_path_factory.mktemp("between"), ("A3",), BETWEEN))


@pytest.fixture(name="row")
def one_kernel(table, kernel):
    """A reader of rows of one kernel."""
    return lambda path, variant="A3": table[kernel, path, variant]


def left(row) -> int:
    """Referenced bytes that left the socket, those sent again and those shown to taps included."""
    again = row["retransmitted_bytes"] if row["referenced_bytes"] else 0
    return row["referenced_bytes"] + again + row["tapped_bytes"]


def test_every_cell_of_every_kernel_ran_and_balances_to_0_bytes(table):
    variants = {kernel: VARIANTS if kernel in EDGES else ("A3",) for kernel in KERNELS}
    paths = {key[1] for key in table}
    assert set(table) == {(kernel, path, variant) for kernel in KERNELS for path in paths
                          for variant in variants[kernel]}
    for key, row in table.items():
        assert row["ran"] == "yes" and row["largest_residual"] == 0, key
        assert row["laws"].startswith("all ") and row["laws"].endswith(" balanced"), key
        assert row["accepted_bytes"] == PAYLOAD, key


def test_copied_variants_reference_nothing_anywhere(table):
    for key, row in table.items():
        if key[2] != "A3":
            assert row["referenced_bytes"] == row["late_bytes"] == row["clean_bytes"] == 0, key
            assert row["zerocopy_sends"] == 0, key
            assert row["tx_copy_bytes"] == row["rx_copy_bytes"] == PAYLOAD, key
            assert row["user_gather_bytes"] == (PAYLOAD if key[2] == "A1" else 0), key


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", PLAIN_NIC)
def test_a_nic_takes_the_senders_pages_without_a_late_copy(row, path):
    found = row(path)
    assert found["referenced_bytes"] == PAYLOAD and found["late_bytes"] == 0
    assert found["clean_bytes"] > 0.99 * left(found)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", ["lo", "veth", "veth, no TSO"])
def test_delivery_on_this_machine_copies_every_reference_late(row, path):
    found = row(path)
    assert found["late_bytes"] == left(found) and found["clean_bytes"] == 0
    assert found["copied_completions"] == found["completions"] > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_router_copies_late_up_to_6_12_and_not_from_6_18_on(row, kernel):
    found = row("forward")
    if kernel in COPIES_WHEN_FORWARDED:
        assert found["late_bytes"] == left(found) and found["clean_bytes"] == 0
    else:
        assert found["late_bytes"] == 0 and found["clean_bytes"] > 0.99 * left(found)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", TAPPED_SENDER)
def test_a_capture_at_the_sender_copies_every_byte_once_more(row, path):
    found = row(path)
    assert found["tapped_bytes"] == left(found) / 2
    delivered = 0 if path.startswith("nic") else found["tapped_bytes"]
    assert found["late_bytes"] == found["tapped_bytes"] + delivered


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_capture_in_an_unrelated_namespace_copies_up_to_6_12(row, kernel):
    found = row("veth, tap elsewhere")
    if kernel in SHOWS_ALL_NAMESPACES:
        assert found["tapped_bytes"] >= PAYLOAD
        assert found["late_bytes"] == 2 * found["tapped_bytes"]
    else:
        assert found["tapped_bytes"] == 0 and found["late_bytes"] == left(found)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", NO_SG)
def test_without_scatter_gather_every_byte_is_moved_and_none_copied_late(row, path):
    found = row(path)
    assert found["reshaped_bytes"] >= left(found) >= PAYLOAD
    assert found["late_bytes"] == found["clean_bytes"] == 0


def test_not_all_completions_say_that_a_device_without_scatter_gather_moved_every_byte(table):
    # In one run of ten or so they do, by chance.
    rows = [table[kernel, path, "A3"] for kernel in KERNELS for path in NO_SG]
    assert sum(row["copied_completions"] for row in rows) < sum(row["completions"] for row in rows)


@pytest.mark.parametrize("kernel", RELEASES)
@pytest.mark.parametrize("path", CAUSES)
def test_what_lies_between_the_sockets_is_the_cause(row, path):
    record = records.load(row(path)["record"])
    found = records.causes(record, "late_copy", "reshape")
    assert set(found) - {"small packets merged", "driver limit"} == CAUSES[path]
    assert all(found[cause] >= PAYLOAD for cause in CAUSES[path])
    assert "unknown" not in records.causes(record)
    for site in ("late_copy", "reshape"):
        law = records.law(record, f"causes of {site}")
        assert law["status"] == "balanced" and law["left"] == records.site(record, site)
        assert law["right"] == sum(records.causes(record, site).values())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", LOSSY)
def test_lost_packets_leave_no_byte_unexplained(row, path):
    found = row(path)
    assert found["accepted_bytes"] == PAYLOAD
    # The kernel itself moves the payload of some short packets (reshape).
    assert sum(found[f"{fate}_bytes"] for fate in ("late", "clean", "dropped", "reshaped")) >= PAYLOAD
