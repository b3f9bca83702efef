# SPDX-License-Identifier: GPL-2.0
"""A witness that loses the word to end is told again, as bpftrace 0.17 has to be."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENDS_WELL = 'trap "exit 0" TERM; echo ready; while :; do sleep 0.1; done'
# Ends at the second signal.
LOSES_ONE = 'left=2; trap "((left--))" TERM; echo ready; while ((left)); do sleep 0.1; done; exit 7'
SCRIPT = """set -euo pipefail
. tests/helpers/witness.sh
bash -c "$2" >"$1" &
until_says ready "$1" $!
end_witness $!
"""


def status_with(program: str, said: Path) -> int:
    """What a script ends with that waits for such a witness and ends it."""
    return subprocess.run(["bash", "-c", SCRIPT, "bash", said, program], cwd=ROOT, check=False, timeout=60).returncode


@pytest.mark.parametrize("program, status", [(LOSES_ONE, 7), ("echo ready; exec sleep 99", 143),
                                             (ENDS_WELL, 0)])
def test_a_witness_ends_with_its_own_status(tmp_path, program, status):
    assert status_with(program, tmp_path / "said") == status


def test_who_ends_without_a_word_is_not_waited_for(tmp_path):
    assert status_with("true", tmp_path / "said") == 1
