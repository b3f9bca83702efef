# SPDX-License-Identifier: GPL-2.0
"""Two processes that drop the oldest files of one folder at once do not disturb each other."""
from __future__ import annotations

import os
from pathlib import Path

from copyscope.files.cache import drop_oldest, last_use_s


def made(folder: Path, count: int) -> list[Path]:
    """Files, of which the first was used last."""
    paths = [folder / f"{number}.log" for number in range(count)]
    for age_s, path in enumerate(paths):
        path.write_text("")
        os.utime(path, (1e9 - age_s, 1e9 - age_s))
    return paths


def test_the_last_used_files_stay(tmp_path):
    paths = made(tmp_path, 7)
    drop_oldest(tmp_path.glob("*.log"), 3)
    assert sorted(tmp_path.iterdir()) == sorted(paths[:3])


def test_a_file_that_another_process_removed_is_no_error(tmp_path):
    paths = made(tmp_path, 7)
    listed = list(tmp_path.glob("*.log"))
    paths[5].unlink()
    assert last_use_s(paths[5]) == 0
    drop_oldest(listed, 3)
    assert sorted(tmp_path.iterdir()) == sorted(paths[:3])
