# SPDX-License-Identifier: GPL-2.0
"""--kernel takes a release or an image's path, and tells one from the other."""
from __future__ import annotations

import pytest

from copyscope.guest import kernels


@pytest.mark.parametrize("wanted", ["./6.12", "/boot/vmlinuz", "../x", "~/x", "here/6.12",
                                    "vmlinuz", "bzImage"])
def test_a_path(wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    for name in ("vmlinuz", "bzImage", "here/6.12"):
        (tmp_path / name).touch()
    assert kernels.is_path(wanted)


@pytest.mark.parametrize("wanted", ["6.12", "5.10", "6.12.95+deb12-cloud-amd64", "vmlinux", "x/y",
                                    "", "host"])
def test_a_release(wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "6.12").touch()
    (tmp_path / "host").mkdir()
    assert not kernels.is_path(wanted)
