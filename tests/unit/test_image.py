# SPDX-License-Identifier: GPL-2.0
"""The image of the collector holds one file that runs alone, and the plugin of kubectl starts it with the DaemonSet's rights.

No engine and no cluster is here: the layout is held against what OCI asks, and kubectl is a script that notes its words.
"""
from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest
import yaml

from helpers.names import ROOT

COLLECTOR = ROOT / "build/copyscope-collect"
DAEMONSET = ROOT / "packaging/kubernetes/daemonset.yaml"
UID = "0b1c-22"
FAKE = """#!/bin/sh
printf '%s\\0' "$@" >>"$CALLS"; printf '\\001' >>"$CALLS"
case $* in
*"get --raw"*) echo "$CONFIG" ;;
*"get pods"*) printf %s "$DAEMON" ;;
*"get pod "*) [ "$POD" ] && printf %s "$POD" || { echo 'Error from server (NotFound)' >&2; exit 1; } ;;
*) echo "bytes by site" ;;
esac
"""


def read(archive: bytes) -> dict[str, tuple[bytes, int, int]]:
    """Files of a tar: content, mode, owner."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {each.name: (tar.extractfile(each).read(), each.mode, each.uid) for each in tar}


@pytest.mark.skipif(not COLLECTOR.is_file(), reason="copyscope-collect is not built: make static")
def test_the_image_has_one_file_by_the_rules_of_oci_and_it_runs_alone(tmp_path):
    made = tmp_path / "image.tar"
    subprocess.run([ROOT / "packaging/oci", COLLECTOR, made], check=True, capture_output=True)
    files = read(made.read_bytes())
    assert json.loads(files["oci-layout"][0]) == {"imageLayoutVersion": "1.0.0"}

    def blob(of: dict) -> bytes:
        data = files[f"blobs/sha256/{of['digest'].partition(':')[2]}"][0]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (of["size"], of["digest"].partition(":")[2])
        return data
    one, = json.loads(files["index.json"][0])["manifests"]
    manifest = json.loads(blob(one))
    config, (layer,) = json.loads(blob(manifest["config"])), map(blob, manifest["layers"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    name, = config["config"]["Entrypoint"]
    assert read(layer) == {name[1:]: (COLLECTOR.read_bytes(), 0o755, 0)} and len(files) == 5
    if os.geteuid() == 0:
        (tmp_path / "root/usr/bin").mkdir(parents=True)
        shutil.copy(COLLECTOR, tmp_path / f"root{name}")
        done = subprocess.run(["chroot", tmp_path / "root", name, "--version"], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout.startswith("copyscope "), done.stderr


def test_what_is_no_program_makes_no_image(tmp_path):
    for words, status in (([ROOT / "Makefile", tmp_path / "x"], 2), ([tmp_path / "none", tmp_path / "x"], 3), (["a", "b", "c"], 2)):
        done = subprocess.run([ROOT / "packaging/oci", *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (status, 1) and not (tmp_path / "x").exists()


@pytest.fixture(name="plugin")
def fixture_plugin(tmp_path):
    """Runs the plugin beside the fake kubectl; what kubectl was told comes with what was printed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kubectl").write_text(FAKE)
    (tmp_path / "bin/kubectl").chmod(0o755)

    def run(*words: str, **given: str) -> tuple[subprocess.CompletedProcess, list[list[str]]]:
        calls = tmp_path / "calls"
        calls.write_text("")
        environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "CALLS": str(calls), "DAEMON": "", "CONFIG": "",
                       "POD": f"node7 {UID} Burstable", **given}
        done = subprocess.run([ROOT / "packaging/kubernetes/kubectl-copyscope", *words], env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)
        return done, [line.split("\0")[:-1] for line in calls.read_text().split("\1")[:-1]]
    return run


def test_without_a_daemonset_a_pod_of_its_own_has_the_daemonset_s_rights_and_goes(plugin):
    done, calls = plugin("watch", "web-0", "-n", "shop", "--seconds", "3", "--image", "hub/collect:1", "--sizes")
    assert done.returncode == 0 and done.stdout == "bytes by site\n", done.stderr
    words = calls[-1]
    assert words[0] == "run" and {"--rm", "--stdin", "--quiet"} <= set(words)
    assert words[words.index("--namespace") + 1] == "shop" and words[words.index("--restart") + 1] == "Never"
    pod = json.loads(words[words.index("--overrides") + 1])["spec"]
    one, = pod["containers"]
    daemon = yaml.safe_load(DAEMONSET.read_text())["spec"]["template"]["spec"]
    assert one["securityContext"] == daemon["containers"][0]["securityContext"]
    assert (pod["nodeName"], pod["hostPID"], one["image"], one["name"]) == ("node7", True, "hub/collect:1", words[1])
    assert pod["volumes"] == daemon["volumes"][:1] and one["volumeMounts"] == daemon["containers"][0]["volumeMounts"][:1]
    slices = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b1c_22.slice"
    assert one["args"] == ["--cgroup", slices, "--seconds", "3", "--sizes", "--table", "--no-keep"]


@pytest.mark.parametrize("kind, config, group", [
    ("Guaranteed", "", "/kubepods.slice/kubepods-pod0b1c_22.slice"),
    ("BestEffort", '{"cgroupDriver":"cgroupfs"}', f"/kubepods/besteffort/pod{UID}"),
    ("Guaranteed", '{"cgroupDriver":"cgroupfs"}', f"/kubepods/pod{UID}")])
def test_the_daemonset_s_pod_is_used_and_the_pod_s_group_found(plugin, kind, config, group):
    done, calls = plugin("watch", "web-0", POD=f"node7 {UID} {kind}", CONFIG=config, DAEMON="ops copyscope-x1")
    assert done.returncode == 0, done.stderr
    assert calls[-1] == ["exec", "--namespace", "ops", "copyscope-x1", "--", "copyscope-collect", "--cgroup", group,
                         "--seconds", "5", "--table", "--no-keep"]


def test_where_copyscope_is_here_it_prints_the_report_of_the_record(plugin, tmp_path):
    (tmp_path / "bin/copyscope").write_text('#!/bin/sh\necho "$1: $(cat "$2")"\n')
    (tmp_path / "bin/copyscope").chmod(0o755)
    done, calls = plugin("watch", "web-0", DAEMON="ops copyscope-x1")
    assert (done.returncode, done.stdout) == (0, "show: bytes by site\n") and calls[-1][-2:] == ["--json", "-"]


def test_a_pod_that_is_not_there_and_bad_words_end_in_one_line(plugin):
    done, calls = plugin("watch", "web-0", POD="")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and len(calls) == 1
    for words in ([], ["look"], ["watch"], ["watch", "a", "b"], ["watch", "a", "--seconds", "x"], ["watch", "a", '--by="x']):
        done, calls = plugin(*words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not calls, words
