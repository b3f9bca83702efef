# SPDX-License-Identifier: GPL-2.0
"""Each kernel takes the programs of a watch of any subject, whatever it looks at."""
from __future__ import annotations

import itertools

import pytest

from guest.boots import ALL, boot

BACKENDS = ("trampoline", "tracepoint")
# The oldest verifier takes the least.
SOON = (ALL[0], BACKENDS[0])
SUBJECTS, LOOKS = 9, 2


@pytest.mark.parametrize("release, backend", [pytest.param(*each, marks=() if each == SOON else pytest.mark.long)
                                              for each in itertools.product(ALL, BACKENDS)])
def test_a_watch_of_any_subject_starts(release, backend, tmp_path):
    guest = boot(release, tmp_path / "out", ["tests/guest/subjects.sh", backend])
    statuses = guest.text("statuses").splitlines()
    assert len(statuses) == SUBJECTS * LOOKS
    assert not [each for each in statuses if not each.startswith("0 ")], guest.text("said")
