# SPDX-License-Identifier: GPL-2.0
"""Claims about the Python module: pip installs it alone, and it says what reports say."""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import types

import pytest

import copyscope
from copyscope.common.errors import CommandError
from copyscope.report.rows import CSV_HEAD, csv_rows
from helpers import watches
from helpers.pictures import made
from helpers.records import ROOT

SCRIPT = """
import json, sys
import copyscope
told = copyscope.rows(copyscope.read_all(*sys.argv[1:]))
print(json.dumps([copyscope.__file__, told]))
"""


@pytest.fixture(name="files")
def made_files(tmp_path):
    """A run and a watch of two services, of which one was not wholly measured."""
    parts = [watches.process(7, "web", watches.moved(1000, 0, tx_copy=1000)),
             watches.process(8, "db", watches.moved(500, 20, tx_copy=500, rx_copy=None))]
    data = watches.watch_record(*parts)
    found = [tmp_path / "in/run.json", tmp_path / "in/watch.json"]
    found[0].parent.mkdir()
    for file, each in zip(found, (made(), data)):
        file.write_text(json.dumps(each))
    return found


def test_records_become_what_reports_say(files, monkeypatch):
    run, watch = copyscope.read_all(files[0].parent)
    assert isinstance(run, copyscope.Run) and isinstance(watch, copyscope.Watch)
    assert run.sites["tx_reference"].bytes == run.data["sites"]["tx_reference"]["bytes"]
    assert (run.variant, run.path) == ("A3", run.data["experiment"]["path"]["kind"])
    rows = [each for each in copyscope.rows([watch])]
    # The name is that of the row of a report; what is not measured is None.
    assert [list(each.values())[4:] for each in rows] == csv_rows(watch.data, "service", "copied")
    assert len(CSV_HEAD) == len(rows[0]) - 4 and [each["copied_bytes"] for each in rows] == [1000, None]
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=list))
    assert copyscope.frame([run, watch]) == copyscope.rows([run, watch])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CommandError, match="pandas"):
        copyscope.frame([run])
    files[1].write_text("{")
    with pytest.raises(CommandError, match="watch.json: JSON: "):
        copyscope.read(files[1])


def test_pip_installs_the_reader_from_the_tree_without_a_network(files, tmp_path):
    tree = tmp_path / "tree"
    # pip leaves files beside what it builds.
    shutil.copytree(ROOT / "tools/lib", tree / "tools/lib", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    (tree / "docs").mkdir()
    shutil.copy(ROOT / "docs/record.schema.json", tree / "docs")
    # A pip of its own would take as long to install as the rest of this.
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    done = subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps",
                           "--no-build-isolation", tree / "tools/lib"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(tree)
    done = subprocess.run([python, "-c", SCRIPT, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where, told = json.loads(done.stdout)
    assert where.startswith(str(tmp_path / "venv")) and told == copyscope.rows(copyscope.read_all(*files))
    # The collector and its commands are none of it.
    assert {each.name for each in (tmp_path / "venv/bin").iterdir() if "copyscope" in each.name} == set()
