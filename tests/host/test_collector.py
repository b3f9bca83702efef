# SPDX-License-Identifier: GPL-2.0
"""copyscope-collect needs nothing beside it: no library, no user, no reader."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from typing import IO

import pytest
import yaml

from helpers import records, schemas
from helpers.watch_tool import PRIME, SCHEMA, TIMEOUT_S, talk

pytestmark = records.needs_root

COLLECTOR = records.ROOT / "build/copyscope-collect"
DAEMONSET = records.ROOT / "packaging/kubernetes/daemonset.yaml"
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


def test_it_makes_no_folder_and_runs_where_its_record_is_asked_for(tmp_path):
    (tmp_path / "a").mkdir()
    shutil.copy(COLLECTOR, tmp_path / "a/b")
    for words, status in ((["--all", "--seconds", "0.1", "--table"], 0), (["run", "A1", "64", "1"], 2)):
        done = subprocess.run([tmp_path / "a/b", *words], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert done.returncode == status and done.stderr.count("\n") == 1, done.stderr
    assert "--json FILE" in done.stderr and [*tmp_path.iterdir()] == [tmp_path / "a"]


def test_a_table_is_all_of_its_output():
    for words, why in ((["--json", "-"], "name a file"), (["--quiet"], "leave out --quiet"),
                       (["--interval", "1"], "leave out --interval")):
        done = subprocess.run([COLLECTOR, "--all", "--table", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(not shutil.which("runc"), reason="runc is missing")
def test_the_image_runs_in_a_container_with_the_daemonset_s_rights_and_counts_to_the_byte(tmp_path):
    subprocess.run([records.ROOT / "packaging/oci", COLLECTOR, tmp_path / "image"], check=True, capture_output=True)
    with tarfile.open(tmp_path / "image") as image:
        def blob(of: dict) -> IO[bytes]:
            return image.extractfile(f"blobs/sha256/{of['digest'].partition(':')[2]}")
        manifest = json.load(blob(json.load(image.extractfile("index.json"))["manifests"][0]))
        entry = json.load(blob(manifest["config"]))["config"]["Entrypoint"]
        with tarfile.open(fileobj=blob(manifest["layers"][0])) as layer:
            layer.extractall(tmp_path / "rootfs")
    one, = next(each for each in yaml.safe_load_all(DAEMONSET.read_text())
                if each["kind"] == "DaemonSet")["spec"]["template"]["spec"]["containers"]
    rights = [f"CAP_{each}" for each in one["securityContext"]["capabilities"]["add"]]
    of_sys, command = ["rbind", "ro", "nosuid", "noexec", "nodev"], subprocess.Popen(
        ["sh", "-c", 'read go; exec "$@"', "sh", *talk(3, 0.1)], stdin=subprocess.PIPE, text=True)
    # As a runtime has it, with the node's processes and network.
    (tmp_path / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True},
        "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "noNewPrivileges": True,
                    "args": [*entry, "-p", str(command.pid), "--table", "--no-keep"],
                    "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), rights)},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                   {"destination": "/sys", "type": "none", "source": "/sys", "options": of_sys},
                   {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
                   {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}],
        "linux": {"namespaces": [{"type": each} for each in ("mount", "ipc", "uts")]}}))
    name = f"copyscope-{os.getpid()}"
    try:
        with subprocess.Popen(["runc", "--root", tmp_path / "state", "run", "--bundle", tmp_path, name], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
            first = watching.stderr.readline()
            command.communicate("go\n", timeout=TIMEOUT_S)
            said, complained = watching.communicate(timeout=TIMEOUT_S)
    finally:
        command.kill()
        subprocess.run(["runc", "--root", tmp_path / "state", "delete", "--force", name], check=False, capture_output=True)
    if not first and "cgroup" in complained:
        pytest.skip(f"runc makes no container here: {complained.splitlines()[-1]}")
    assert "open" in first and watching.returncode == 0, first + complained
    assert int(table_of(said)[0]["tx_copy"]) == 3 * (PRIME + len(b"thanks!"))
