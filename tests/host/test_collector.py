# SPDX-License-Identifier: GPL-2.0
"""copyscope-collect needs nothing beside it: no library, no user, no reader."""
from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from helpers import records, schemas
from helpers.watch_tool import PRIME, SCHEMA, TIMEOUT_S, talk

pytestmark = records.needs_root

COLLECTOR = records.ROOT / "build/copyscope-collect"
# A root with the file alone. What it is to see of programs outside is in /proc and /sys.
ALONE = """
mkdir "$0/proc" "$0/sys"
mount --rbind /proc "$0/proc"
mount --rbind /sys "$0/sys"
exec chroot "$0" /copyscope-collect "$@"
"""


def in_mounts(script: str, *words: object, **more) -> subprocess.CompletedProcess:
    """Run a script in a mount namespace of its own."""
    return subprocess.run(["unshare", "--mount", "sh", "-ec", script, *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S, **more)


@pytest.fixture(name="root")
def fixture_root(tmp_path):
    """A root with one file."""
    shutil.copy(COLLECTOR, tmp_path)
    return tmp_path


def table_of(said: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Bytes by site, and the columns by row."""
    sites, rows = said.rstrip("\n").split("\n\n")
    return ({name: value for value, name in (line.split() for line in sites.splitlines()[1:])},
            {name: columns for *columns, name in (line.split(maxsplit=5) for line in rows.splitlines()[1:])})


def test_in_a_root_with_nothing_else_it_counts_to_the_byte(root):
    command = subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", *talk(3, 0.1)], stdin=subprocess.PIPE, text=True)
    watching = subprocess.Popen(["unshare", "--mount", "sh", "-ec", ALONE, root, "-p", str(command.pid), "--table",
                                 "--json", "/record.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "open" in watching.stderr.readline()
    command.communicate("go\n", timeout=TIMEOUT_S)
    said, complained = watching.communicate(timeout=TIMEOUT_S)
    assert watching.returncode == 0, complained
    sites, rows = table_of(said)
    payload = 3 * (PRIME + len(b"thanks!"))
    assert int(sites["tx_copy"]) == int(sites["rx_copy"]) == payload and sites["user_gather"] == "-"
    assert rows["all"] == [str(payload), str(payload), str(2 * payload), "0", "0"]
    record = json.loads((root / "record.json").read_text())
    assert not schemas.faults(SCHEMA, record) and record["total"]["sites"]["tx_copy"]["bytes"] == payload


def test_a_command_of_who_called_sudo_has_the_groups_of_etc_group(tmp_path):
    # A service of names that is no library here: glibc's own functions would look for it.
    (tmp_path / "nsswitch.conf").write_text("passwd: none_such\ngroup: none_such\n")
    (tmp_path / "passwd").write_text("root:x:0:0::/root:/bin/sh\nann:x:61003:61007:::\n")
    (tmp_path / "group").write_text("root:x:0:\nprime:x:61013:bob,ann\nother:x:61019:bob\nown:x:61007:\n")
    script = 'for each in nsswitch.conf passwd group; do mount --bind "$0/$each" "/etc/$each"; done; exec "$@"'
    done = in_mounts(script, tmp_path, "env", "SUDO_UID=61003", "SUDO_GID=61007", COLLECTOR, "--quiet", "--", "id", "-G")
    assert (done.returncode, done.stdout) == (0, "61007 61013\n"), done.stderr


def test_a_table_is_all_of_its_output():
    for words, why in ((["--json", "-"], "name a file"), (["--quiet"], "leave out --quiet"),
                       (["--interval", "1"], "leave out --interval")):
        done = subprocess.run([COLLECTOR, "--all", "--table", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
