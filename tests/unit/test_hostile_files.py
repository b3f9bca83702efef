# SPDX-License-Identifier: GPL-2.0
"""A small file makes no tool work for minutes, take gigabytes or end in a traceback."""
from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import tarfile
from pathlib import Path
from random import Random

import pytest

from copyscope.files import tar_members
from copyscope.records import documents
from helpers import hostile_files
from helpers.names import ROOT

MOST_S, MOST_BYTES = 20, 1 << 30


def limited() -> None:
    """Far less than what these files once took."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))


def refused(words: list[str], place: Path) -> str:
    """What a tool says in one line when it refuses."""
    done = subprocess.run([sys.executable, ROOT / "tools" / words[0], *words[1:]], cwd=place, text=True,
                          capture_output=True, check=False, preexec_fn=limited, timeout=10 * MOST_S,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 2 and done.stdout == "", (words, done)
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 400, done.stderr
    return done.stderr


@pytest.mark.parametrize("kind", hostile_files.KINDS)
def test_a_hostile_file_is_refused_in_one_line_soon_and_in_little_memory(kind, tmp_path):
    for seed in range(2 if kind in ("a long key", "a large header", "many parts") else 1):
        file = hostile_files.place(kind, tmp_path, Random(seed))
        for words in hostile_files.readers(file):
            assert str(file) in refused(words, tmp_path)


def test_a_file_without_an_end_is_refused(tmp_path):
    kernel = Path("/proc/kmsg")
    if not os.access(kernel, os.R_OK) or os.geteuid() != 0:
        pytest.skip("only root reads the kernel's messages")
    for words in (["claims", "check", str(kernel)], ["plot", str(kernel), "--out", "o"],
                  ["claims", "check", hostile_files.RECORDS, "--claims", str(kernel)],
                  ["sweep", "--profile", str(kernel), "--dry-run"]):
        assert str(kernel) in refused(words, tmp_path)


def test_what_a_reader_would_wait_for_has_no_end(monkeypatch, tmp_path):
    # As read(2) says EAGAIN of /proc/kmsg once all was read.
    (tmp_path / "x").write_bytes(b"")

    class Empty:
        """A file that has nothing yet."""

        def __init__(self, descriptor: int, _mode: str) -> None:
            self.descriptor = descriptor

        def __enter__(self) -> Empty:
            return self

        def __exit__(self, *_why: object) -> None:
            os.close(self.descriptor)

        def fileno(self) -> int:
            """Its number."""
            return self.descriptor

        def read(self, _size: int) -> None:
            """Nothing, and no end."""

    monkeypatch.setattr(documents, "open", Empty, raising=False)
    with pytest.raises(documents.BadRecord, match="it has no end"):
        documents.read_bytes(tmp_path / "x")


def test_ordinary_keys_and_texts_with_dots_are_read():
    key = ".".join(f"a{each}" for each in range(documents.KEY_PARTS))
    text = f"{key} = 1\nb = {[each + 0.5 for each in range(500)]}\nc = 'x. y. z. {'w ' * 99}.'\n"
    found = documents.parse_toml(text.encode())
    assert set(found) == {"a0", "b", "c"} and len(found["b"]) == 500
    with pytest.raises(ValueError, match="at line 2"):
        documents.parse_toml(f"b = 1\n{key}.x = 1\n".encode())


def test_every_member_of_a_tar_is_found():
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:", format=form) as tar:
            for number in range(300):
                member = tarfile.TarInfo(f"{'n' * (number % 3 * 90)}{number}")
                member.size = number * 7
                tar.addfile(member, io.BytesIO(b"x" * member.size))
        made.seek(0)
        found = [(member.name, len(content.read())) for member, content in tar_members.tar_members(made)]
        assert [size for _, size in found] == [number * 7 for number in range(300)]
        assert [name.lstrip("n") for name, _ in found] == [str(number) for number in range(300)]
