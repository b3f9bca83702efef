# SPDX-License-Identifier: GPL-2.0
"""What lmbench prints is read as it means it, and a ratio is judged by measurements alone."""
from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from copyscope_studies.beside import command, parse, runs
from copyscope_studies.beside.judge import AGREES, EXPLAINED, OPEN, Values, Verdict
from copyscope_studies.beside.pairs import PAIRS
from helpers.pictures import DATA

SAID = dict(re.findall(r"^\[(.*)\]\n((?:[^\[].*\n|\n)*)", (DATA / "lmbench.txt").read_text(), re.M))


@pytest.mark.parametrize("program,read,value", [
    ("lat_syscall null", parse.microseconds, 0.1697),
    ("lat_proc fork", parse.microseconds, 186.6935),
    ("lat_tcp", parse.microseconds, 46.3639), ("lat_connect", parse.microseconds, 25.7991),
    ("lat_pagefault", parse.microseconds, 0.0462), ("lat_ctx -s 0 2", parse.switch, 11.41),
    ("lat_ctx -s 0 2", parse.switch_with_pipe, 12.10), ("bw_mem 128m rd", parse.rate, 22802.88),
    ("bw_mem 1000000 rd", parse.rate, 10175.47), ("bw_tcp", parse.rate, 1363.86),
    ("bw_file_rd 64M io_only", parse.rate, 6559.39)])
def test_a_result_is_read(program, read, value):
    assert read(SAID[program]) == pytest.approx(value)


@pytest.mark.parametrize("size,ns", [
    (16 << 10, 1.108), (512, 1.116), (256 << 10, 3.968), (384 << 10, 6.603), (2 << 20, 15.216)])
def test_a_working_set_is_found_by_its_size(size, ns):
    assert parse.latency_at(SAID["lat_mem_rd -t 2 64"], size) == ns


@pytest.mark.parametrize("size", [300 << 10, 4 << 20])
def test_a_working_set_that_was_not_measured_is_not_guessed(size):
    with pytest.raises(parse.NoResult):
        parse.latency_at(SAID["lat_mem_rd -t 2 64"], size)


READERS = (parse.microseconds, parse.rate, parse.switch, parse.switch_with_pipe, parse.latencies)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", [
    "", "\n", "connect: Connection refused\n", "usage: lat_syscall null|read\n", "2 -1.00\n",
    "Simple syscall: nan microseconds\n", "Simple syscall: 0.0000 microseconds\n", "64.00 inf\n",
    "64.00\n", '"size=0k ovr=\n2 \n', '"stride=64\n'])
def test_what_is_no_result_is_no_number(read, text):
    with pytest.raises(parse.NoResult) as refused:
        read(text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 120


def test_what_one_program_prints_is_not_taken_for_another():
    with pytest.raises(parse.NoResult):
        parse.microseconds(SAID["bw_tcp"])
    with pytest.raises(parse.NoResult):
        parse.rate(SAID["lat_tcp"])


def verdict(plain, alike=None):
    """A verdict on ratios that are the same in all rounds."""
    def values(ratio):
        return Values([ratio * 10, ratio * 20, ratio * 30], [10, 20, 30])
    return Verdict(PAIRS[1], values(plain), values(alike) if alike else None)


@pytest.mark.parametrize("plain,alike,kind", [
    (1.0, None, AGREES), (0.8, None, AGREES), (1.25, 9.0, AGREES), (0.79, 1.0, EXPLAINED),
    (1.26, 0.9, EXPLAINED), (0.5, 0.6, OPEN), (2.0, 0.5, OPEN), (2.0, None, OPEN)])
def test_a_difference_is_explained_only_if_it_goes_with_its_cause(plain, alike, kind):
    assert verdict(plain, alike).kind == kind


def test_a_round_in_which_both_were_slow_does_not_shift_the_ratio():
    assert Values([10, 1000, 10.2], [10, 1000, 10]).ratio.middle == pytest.approx(1.0)


def test_every_comparison_that_was_asked_for_is_there():
    names = [pair.name for pair in PAIRS]
    assert len(set(names)) == len(names) == 15
    assert all(bool(pair.alike) == bool(pair.cause) for pair in PAIRS)
    assert len([name for name in names if name.startswith("latency, ")]) == 4


@pytest.fixture(name="programs")
def fixture_programs(tmp_path):
    """A folder with a program of each name, none of which is ever run."""
    for pair in PAIRS:
        file = tmp_path / "bin" / pair.plain.program.words[0]
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/false\n")
        file.chmod(0o755)
    return tmp_path / "bin"


class Made(runs.Suite):
    """A suite of which theirs takes twice as long wherever nothing was made alike."""

    def look(self):
        self.tool = {"commit": "0123abc"}
        self.machine = {"cpu_model": "Example", "cpus": 2, "kernel": "6.12"}

    def ours(self, side):
        return 1.0

    def theirs(self, side):
        alike = side not in [pair.plain for pair in PAIRS]
        return 1.0 if alike else 2.0


def test_the_command_prints_and_writes_what_it_found(programs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "Suite", Made)
    # One without a known cause: what differs then is not explained.
    monkeypatch.setattr(command, "PAIRS", tuple(
        replace(pair, alike=None) if pair.name == "TCP bandwidth" else pair
        for pair in command.PAIRS))
    monkeypatch.setattr(runs.os, "geteuid", lambda: 0)
    monkeypatch.setattr(runs, "FILE_BYTES", 1 << 20)
    words = ["--bin", str(programs), "--dir", str(tmp_path), "--rounds", "2", "--out",
             str(tmp_path / "out")]
    assert command.main(words) == 1
    shown = capsys.readouterr().out
    assert "TCP bandwidth: 0.50 is not explained" in shown and "fork: ours ends when" in shown
    record = json.loads((tmp_path / "out/beside.json").read_text())
    assert {pair["verdict"] for pair in record["pairs"]} == {EXPLAINED, OPEN}
    assert record["pairs"][0]["plain"]["theirs"] == [2.0, 2.0]
    assert record["command"][1:3] == ["--bin", "DIR"]
    assert shown.splitlines()[1].strip() in (tmp_path / "out/beside.md").read_text()
    assert command.main([*words, "--only", "fork"]) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bin", "out"]


@pytest.mark.parametrize("words", [
    "", "--bin", "--bin {bin} --rounds 0", "--bin {bin} --rounds 101", "--bin {bin} --only speed",
    "--bin /nowhere", "--bin {bin} --dir /nowhere", "--bin {bin} --fast"])
def test_bad_usage_is_one_line_and_status_2(words, programs, monkeypatch, capsys):
    monkeypatch.setattr(runs.os, "geteuid", lambda: 0)
    monkeypatch.setattr(runs, "call", lambda *_: pytest.fail("something was run"))
    assert command.main(words.format(bin=programs).split()) == 2
    shown = capsys.readouterr()
    assert not shown.out and shown.err.startswith("beside_lmbench: ") and shown.err.count("\n") == 1


def test_a_folder_without_one_of_the_programs_names_it(programs, capsys):
    (programs / "lat_tcp").unlink()
    assert command.main(["--bin", str(programs)]) == 2
    assert "no program lat_tcp there" in capsys.readouterr().err


def test_without_root_it_says_what_to_type(programs, monkeypatch, capsys):
    monkeypatch.setattr(runs.os, "geteuid", lambda: 65534)
    assert command.main(["--bin", str(programs)]) == 3
    assert "sudo" in capsys.readouterr().err
