# SPDX-License-Identifier: GPL-2.0
"""The unit, the DaemonSet and the command that measures: each right is enough, and none is left out."""
from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from helpers import records
from helpers.records import ROOT
from helpers.watch_tool import COPYSCOPE

UNIT = ROOT / "packaging/copyscope.service"
DAEMONSET = ROOT / "packaging/kubernetes/daemonset.yaml"
PR_SET_MDWE = 65
# What the API of Kubernetes has for these objects (apps/v1, core/v1), of what the file uses.
FIELDS = {
    "": {"apiVersion", "kind", "metadata", "spec"},
    "spec": {"selector", "template"},
    "spec.template": {"metadata", "spec"},
    "spec.template.spec": {"hostPID", "automountServiceAccountToken", "enableServiceLinks", "tolerations", "containers",
                           "terminationGracePeriodSeconds", "volumes"},
    "container": {"name", "image", "args", "ports", "resources", "securityContext", "volumeMounts"},
    "securityContext": {"runAsUser", "allowPrivilegeEscalation", "readOnlyRootFilesystem", "seccompProfile",
                        "appArmorProfile", "capabilities"},
}
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is missing")


def values(key: str) -> list[str]:
    """What the unit says of a key."""
    found = re.findall(rf"^{key}=(.*)$", UNIT.read_text(), re.MULTILINE)
    return [word for line in found for word in line.split()]


def capabilities() -> set[str]:
    """Those that the unit keeps, as setpriv names them."""
    return {each.removeprefix("CAP_").lower() for each in values("CapabilityBoundingSet")}


@needs_systemd
def test_systemd_takes_the_unit(tmp_path):
    copy = tmp_path / UNIT.name
    # What is not installed here.
    copy.write_text(re.sub(r"^Documentation=.*\n", "", UNIT.read_text(), flags=re.MULTILINE).replace("/usr/bin/copyscope", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert not done.returncode and not done.stderr, done.stderr


@needs_systemd
def test_the_page_has_the_score_of_the_unit():
    said = subprocess.run(["systemd-analyze", "security", "--offline=true", UNIT], capture_output=True, text=True,
                          check=False).stdout
    version = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if version != "252":
        pytest.skip("another release of systemd has other rules")
    score = re.search(r"exposure level for copyscope.service: ([0-9.]+)", said)[1]
    assert f"says {score} (252)" in (ROOT / "docs/METRICS.md").read_text()


def watch_as_the_unit(tmp_path: Path, *before: str, rights: set[str]) -> dict:
    """A watch of everything with these capabilities, and memory as the unit has it; its record."""
    bounding = ",".join(["-all", *(f"+{each}" for each in sorted(rights))])
    record = tmp_path / "r.json"
    done = subprocess.run([*before, "setpriv", "--bounding-set", bounding, "--no-new-privs", COPYSCOPE, "watch", "-q", "--all",
                           "--interval", "0.5", "--seconds", "1.2", "--metrics", tmp_path / "m.prom", "--json", record],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120,
                          preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_MDWE, 1, 0, 0, 0))
    assert done.returncode in (0, 1) and record.exists(), done.stderr
    assert (tmp_path / "m.prom").exists()
    return json.loads(record.read_text())


@records.needs_root
def test_the_rights_of_the_unit_are_enough_and_its_calls_are_allowed(tmp_path):
    plain = subprocess.run([COPYSCOPE, "watch", "-q", "--all", "--seconds", "0.5", "--json", "-"], capture_output=True,
                           text=True, check=False, stdin=subprocess.DEVNULL)
    root = json.loads(plain.stdout)
    trace = tmp_path / "calls"
    mine = watch_as_the_unit(tmp_path, "strace", "-f", "-qq", "-o", str(trace), rights=capabilities())
    assert {gap["what"] for gap in mine["not_covered"]} == {gap["what"] for gap in root["not_covered"]}
    assert mine["backend"]["name"] == root["backend"]["name"]
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing")
    listed = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True).stdout
    sets: dict[str, set[str]] = {}
    name = ""
    for line in (line.split("#")[0] for line in listed.splitlines()):
        name = line.strip() if line.startswith("@") else name
        if line.startswith(" ") and line.strip():
            sets.setdefault(name, set()).add(line.strip())

    def whole(name: str) -> set[str]:
        return set().union(*(whole(each) if each.startswith("@") else {each} for each in sets[name]))
    allowed = set().union(*(whole(each) if each.startswith("@") else {each} for each in values("SystemCallFilter")))
    called = set(re.findall(r"^\d+ +([a-z0-9_]+)\(", trace.read_text(errors="replace"), re.MULTILINE))
    assert {"bpf", "read"} <= called and not called - allowed


@records.needs_root
@pytest.mark.parametrize("right", ["setuid", "setgid", "setpcap"])
def test_without_the_rights_to_give_up_rights_nothing_is_watched(tmp_path, right):
    with pytest.raises(AssertionError, match="copyscope watch: "):
        watch_as_the_unit(tmp_path, rights=capabilities() - {right})


def test_the_daemonset_has_fields_of_the_api_and_the_rights_of_the_unit():
    whole = yaml.safe_load(DAEMONSET.read_text())
    assert (whole["apiVersion"], whole["kind"]) == ("apps/v1", "DaemonSet")
    template = whole["spec"]["template"]
    pod = template["spec"]
    one, = pod["containers"]
    for name, part in (("", whole), ("spec", whole["spec"]), ("spec.template", template), ("spec.template.spec", pod),
                       ("container", one), ("securityContext", one["securityContext"])):
        assert set(part) <= FIELDS[name], name
    assert whole["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert {each["name"] for each in one["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    assert {each.lower() for each in one["securityContext"]["capabilities"]["add"]} == capabilities()
    port, = one["ports"]
    assert one["args"][1].endswith(f":{port['containerPort']}") and \
        template["metadata"]["annotations"]["prometheus.io/port"] == str(port["containerPort"])
    release = (ROOT / "userspace/tables/release.h").read_text() + (ROOT / "userspace/tables/release.c").read_text()
    assert one["image"].partition(":")[2] in release


@records.needs_root
def test_many_groups_and_sockets_stay_in_bounds():
    done = subprocess.run([ROOT / "tests/metrics_cost", "--groups", "300", "--sockets", "1200", "--rounds", "1", "--sends", "0",
                           "--interval", "0.5"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "200 services told apart" not in done.stdout and re.search(r"[1-9]\d* as other", done.stdout), done.stdout
