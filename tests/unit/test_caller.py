# SPDX-License-Identifier: GPL-2.0
"""Claims about who called sudo, and about what a watch that keeps no record leaves alone."""
from __future__ import annotations

import os
import pwd

import pytest

from copyscope.common import caller
from copyscope.common.errors import Refused
from copyscope.dispatch import far, straight
from copyscope.files import output_folder

NOBODY = pwd.getpwnam("nobody")


@pytest.mark.parametrize("said, uid", [("", None), ("x", None), ("-1", None), ("1" * 11, None), ("²", None), ("0", 0),
                                       (str(NOBODY.pw_uid), NOBODY.pw_uid)])
def test_sudo_says_a_number_or_nothing(said, uid, monkeypatch):
    monkeypatch.setenv("SUDO_UID", said)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert caller.caller_uid() == uid and (uid is None or uid in output_folder.trusted_users())
    assert caller.caller() == (NOBODY if uid else None)
    assert far.as_caller().get("user") == (uid or None)


@pytest.mark.parametrize("said", ["4123456789", "9999999999"])
def test_a_number_that_nobody_has_is_one_line(said, monkeypatch):
    monkeypatch.setenv("SUDO_UID", said)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Refused, match=f"user {said} called sudo, and nobody has that number here: unset it"):
        far.as_caller()


@pytest.mark.parametrize("words, kept", [
    (["--all"], True), (["--no-keep"], False), (["--json", "x"], False), (["--json=x"], False), (["--help"], False),
    (["--all", "--", "a", "--no-keep"], True)])
def test_a_watch_looks_for_room_only_if_it_keeps_a_record(words, kept):
    assert straight.is_kept(words) == kept
