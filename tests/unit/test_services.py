# SPDX-License-Identifier: GPL-2.0
"""Claims about services: what the path of a control group, and files of runtimes, say of a process."""
from __future__ import annotations

import json

import pytest

from copyscope.dispatch import straight, whom
from copyscope.services import containers, paths

ID, OTHER = "ab" * 32, "cd" * 32
POD = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12345678_1234_1234_1234_123456789abc.slice"


@pytest.mark.parametrize("path, container, unit", [
    ("/system.slice/nginx.service", "", "nginx.service"), ("/system.slice/a.service/sub/b.scope", "", "b.scope"),
    (f"/system.slice/docker-{ID}.scope", ID, ""), (f"/docker/{ID}", ID, ""), (f"/machine.slice/libpod-{ID}.scope/container", ID, ""),
    (f"{POD}/cri-containerd-{ID}.scope", ID, ""), (f"/x/{ID}/docker-{OTHER}.scope", OTHER, ""),
    ("/user.slice/user-1000.slice/session-3.scope", "", ""), ("/", "", ""), (f"/user.slice/user-1.slice/docker-{ID}.scope", "", ""),
])
def test_a_path_names_container_or_unit(path, container, unit):
    assert (paths.container_of(path), paths.unit_of(path)) == (container, unit)


def test_only_a_users_slice_names_the_user():
    assert paths.user_of("/user.slice/user-1000.slice/session-3.scope") == 1000
    assert paths.user_of("/x/user.slice/user-1000.slice") is None and paths.user_of("/user.slice") is None


@pytest.fixture(name="runtimes")
def files_of_runtimes(tmp_path):
    """What docker, kubelet, podman and nerdctl leave."""
    docker, storage = tmp_path / containers.DOCKER / ID, tmp_path / containers.STORAGE
    task, logs = tmp_path / containers.CONTAINERD / "default" / ("ef" * 32), tmp_path / containers.POD_LOGS
    for folder in (docker, storage.parent, task, logs):
        folder.mkdir(parents=True)
    (docker / "config.v2.json").write_text(json.dumps({"Name": "/web"}))
    storage.write_text(json.dumps([{"id": "12" * 32, "names": ["cache"]}, {"id": 7}, "x"]))
    (task / "config.json").write_text(json.dumps({"annotations": {"nerdctl/name": "batch"}}))
    (logs / f"front-7f9_shop_app-{OTHER}.log").symlink_to("/nowhere")
    (tmp_path / containers.DOCKER / "broken").mkdir()
    (tmp_path / containers.DOCKER / "broken" / "config.v2.json").write_text("{")
    return tmp_path


def test_names_are_read_where_each_runtime_keeps_them(runtimes):
    found = containers.named(runtimes)
    assert {number: each.shown for number, each in found.items()} == {
        ID: "web", "12" * 32: "cache", "ef" * 32: "batch", OTHER: "shop/front-7f9/app"}
    assert found[OTHER].names == ["app", "front-7f9", "shop/front-7f9", "shop/front-7f9/app"]
    assert not containers.named(runtimes / "none")


GROUPS = ["/", "/system.slice/nginx.service", "/system.slice/nginx.service/below", f"/system.slice/docker-{ID}.scope",
          f"{POD}/cri-containerd-{OTHER}.scope", "/system.slice/web.service"]


@pytest.fixture(name="machine")
def made_machine(monkeypatch, runtimes):
    """A machine with these groups and runtimes."""
    known = containers.named(runtimes)
    monkeypatch.setattr(whom, "paths", lambda: dict(enumerate(GROUPS)))
    monkeypatch.setattr(whom, "named", lambda: known)


@pytest.mark.parametrize("words, said", [
    (["nginx", "--seconds", "2"], ["--cgroup", GROUPS[1], "--seconds", "2"]),
    (["web"], ["--cgroup", GROUPS[5]]), (["other", "-q"], ["--comm", "other", "-q"]),
    (["--container", "web"], ["--cgroup", GROUPS[3]]), (["--container=shop/front-*"], ["--cgroup", GROUPS[4]]),
    (["--container", "abababab"], ["--cgroup", GROUPS[3]]), (["--container", "abab*"], ["--cgroup", GROUPS[3]]),
    (["--unit", "*"], ["--cgroup", GROUPS[1], "--cgroup", GROUPS[5]]),
    (["--all", "--exclude", "unit=web"], ["--all", "--exclude", f"cgroup={GROUPS[5]}"]),
    (["--exclude=nginx", "--cpu", "web"], ["--exclude", "nginx", "--cpu", "--cgroup", GROUPS[5]]),
    (["-p1", "--", "nginx", "--unit", "x"], ["-p1", "--", "nginx", "--unit", "x"]),
])
def test_names_become_what_the_watch_takes(machine, words, said):
    assert whom.told(words) == said


def test_a_value_a_number_and_an_address_are_no_names():
    assert straight.bare_words(["--comm", "a", "-p", "1", "-q", "b", "12", ":80", "http://c", "-p12", "--by=port", "d"]) == [5, 11]
