# SPDX-License-Identifier: GPL-2.0
"""The Python tools start programs of the system so that a caller's PATH and environment do not count."""
from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from copyscope.common import programs

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (ROOT / "tools/lib/copyscope", ROOT / "studies/lib/copyscope_studies")


# These start programs of ours or of the user: trace_run, the tools, ssh, lmbench.
OWN = {"common/programs.py", "runs/launch.py", "runs/series.py", "runs/guests.py",
       "peers.py", "claims/command.py", "dispatch/words.py",
       "dispatch/far.py", "dispatch/page.py", "records_cmd/page.py", "advise/command.py",
       "runs/baseline.py", "advised/command.py"}


@pytest.fixture(name="hostile")
def fixture_hostile(tmp_path, monkeypatch):
    """A folder that comes first in PATH, with a program of a known name."""
    (tmp_path / "env").write_text("#!/bin/sh\necho hostile\n")
    (tmp_path / "env").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("QEMU_AUDIO_DRV", "hostile")
    return tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: a user's PATH is the user's own")
def test_root_runs_the_programs_of_the_system(hostile):
    assert programs.find("env") in ("/usr/bin/env", "/bin/env")
    assert "hostile" not in programs.run(["env"]).stdout


def test_a_program_gets_no_variable_but_those_for_it(hostile, monkeypatch):
    monkeypatch.delenv("http_proxy", raising=False)
    said = programs.run([Path("/usr/bin/env")], more={"APT_CONFIG": "here"}).stdout.splitlines()
    assert {each.split("=")[0] for each in said} <= {"LC_ALL", "PATH", "APT_CONFIG",
                                                     *programs.PROXIES}
    assert f"PATH={programs.FOLDERS}" in said and "APT_CONFIG=here" in said


def test_what_is_not_there_is_named():
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        programs.run(["no-such-program"])


def test_no_other_module_starts_a_program_of_the_system():
    for package, path in [(each, path) for each in PACKAGES for path in sorted(each.rglob("*.py"))]:
        if str(path.relative_to(package)) in OWN:
            continue
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text()))
                 if isinstance(node, ast.Call)}
        assert not calls & {"subprocess.run", "subprocess.Popen", "subprocess.check_output",
                            "os.system", "shutil.which"}, path
