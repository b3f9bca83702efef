# SPDX-License-Identifier: GPL-2.0
"""Between two guests zero copy copies nothing, and the books of both kernels balance as one."""
from __future__ import annotations

import subprocess

import pytest

from guest.boots import TIMEOUT_S
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, SENT

PEERS = records.ROOT / "tools" / "peers"
KERNELS = ["6.12,6.1", *(pytest.param(each, marks=pytest.mark.long) for each in ("6.12", "6.1,6.12"))]


def run(kernels: str, *words) -> subprocess.CompletedProcess:
    """The command that a person types."""
    return subprocess.run([str(word) for word in (PEERS, "--kernel", kernels, *words)],
                          capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def check(done: subprocess.CompletedProcess, kernels: str) -> dict:
    """The joined record of a run that ended well, from the kernels that were asked for."""
    assert done.returncode == 0, done.stderr + records.broken_text(done.stdout)
    record = records.load(done.stdout)
    sender, _, receiver = kernels.partition(",")
    assert record["machine"]["kernel"].startswith(f"{sender}.")
    assert record["experiment"]["peer"]["machine"]["kernel"].startswith(f"{receiver or sender}.")
    assert record["experiment"]["path"]["kind"] == "peer" and record["experiment"]["path"]["hardware_dma"]
    assert record["backend"]["name"] == record["experiment"]["peer"]["backend"]["name"] == "trampoline"
    assert not records.laws_with(record, "broken")
    assert not records.laws_with(record, "not testable")
    return record


@pytest.mark.long
@pytest.mark.parametrize("variant, pattern", [("A1", "stream"), ("A3", "rr")])
def test_23_messages_of_4093_bytes_balance_over_both_kernels(variant, pattern):
    kernels = "6.1,6.12"
    record = check(run(kernels, variant, PRIME_BYTES, 2, "--messages", PRIME_MESSAGES, "--pattern",
                       pattern, "--json", "-"), kernels)
    requests = PRIME_PAYLOAD if pattern == "rr" else 0
    for name, share in SENT[variant].items():
        more = requests if name == "tx_copy" else 0
        assert records.site(record, name) == share * PRIME_PAYLOAD + more, name
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD + requests
    assert records.site(record, "late_copy") == 0
    assert len(record["sockets"]) == 4


@pytest.mark.parametrize("kernels", KERNELS)
def test_zero_copy_to_another_host_copies_no_byte_at_the_sender(kernels):
    done = run(kernels, "A3", 65536, 4, "--messages", 100, "--json", "-")
    record = check(done, kernels)
    assert records.site(record, "tx_reference") == 100 * 65536
    # skb_copy_ubufs: the function that copies referenced pages after all.
    assert (records.site(record, "late_copy"), records.calls(record, "late_copy")) == (0, 0)
    assert record["pins"]["pages"] == record["pins"]["released_pages"] > 0
    assert record["experiment"]["workload"]["completions"] == record["experiment"]["workload"]["zerocopy_sends"]


@pytest.mark.long
def test_a_blind_run_is_made_again_by_a_far_half_started_anew():
    # Of a run that is longer than five seconds there is one more try.
    done = run("6.12", "A2", 4096, 1, "--seconds", 5.1, "--break", "miss-hits", "--json", "-", "--quiet")
    assert done.returncode == records.BLIND, done.stderr
    record = records.load(done.stdout)
    assert record["experiment"]["outcome"]["status"] == "blind" and record["experiment"]["attempt"] == 2
    assert done.stderr.count("trying again") == 1 and "SIGTERM" not in done.stderr


# On the host tests/host/test_peer_sweeps.py has one go on.
@pytest.mark.long
def test_a_sweep_over_ssh_goes_on_after_the_network_was_cut(tmp_path):
    # Of 48 points of a report, which take 7 min, tests/peers_sweep says how.
    words = ["--cut", 1, "--out", tmp_path, "--variants", "A1,A3", "--sizes", PRIME_BYTES, "--repeats", 1,
             "--seconds", 0.2, "--pass", "counted"]
    done = subprocess.run([records.ROOT / "tests/peers_sweep", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    made = [records.load(each) for each in (tmp_path / "sweep/runs").glob("*.json")]
    assert len(made) == 2
    for each in made:
        assert each["machine"]["kernel"].startswith("6.1.")
        assert each["experiment"]["peer"]["machine"]["kernel"].startswith("6.12.")
        assert not records.laws_with(each, "broken")
        accepted = each["counts"]["accepted_bytes"]
        assert accepted == each["counts"]["returned_bytes"] == records.site(each, "rx_copy") > 0
        for name, share in SENT[each["experiment"]["workload"]["variant"]].items():
            assert records.site(each, name) == share * accepted, name
        assert records.site(each, "late_copy") == 0


def test_bad_words_are_told_and_nothing_is_written(tmp_path):
    for words, status in ((["--kernel", "9.9", "A3", "64", "1"], 2), ([], 2),
                          (["--kernel", "6.1,6.1,6.1", "A3", "64", "1"], 2),
                          (["--json", str(tmp_path / "no" / "such.json"), "A3", "64", "1"], 2)):
        done = subprocess.run([PEERS, *words], capture_output=True, text=True, check=False,
                              timeout=30)
        assert done.returncode == status and not done.stdout
        assert len(done.stderr.splitlines()) == 1, done.stderr
