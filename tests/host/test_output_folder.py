# SPDX-License-Identifier: GPL-2.0
"""No tool that writes touches what is not provably its own, or follows a link to it."""
from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest

from attacks import scripts
from copyscope import drawing
from copyscope.common.errors import CommandError, Unusable
from copyscope.files import output_folder
from copyscope.guest import output
from copyscope.runs import folder as sweep_folder
from copyscope_studies.baseline import figures
from copyscope_studies.beside import command as beside
from helpers.records import ROOT, needs_root
from helpers.victims import assert_refused, give_away, snapshot, victim

pytestmark = needs_root
DATA = ROOT / "tests" / "data"
RUNS = [DATA / "run-A1-host.json", DATA / "run-A2-host.json"]
# What each writes first, of all its files, and how it is called; --out and its value follow.
FOLDERS = {
    "keep": ("PROVENANCE.md", ["tools/baseline", "keep", DATA / "baseline-host.json"]),
    "matrix": ("matrix.md", ["tools/matrix", "--kernels", "6.12", "--paths", "lo"]),
    "matrix of ways": ("ways.md", ["tools/matrix", "--ways", "--kernels", "6.12", "--paths", "lo"]),
    "predict": ("predictions.md", ["tools/predict"]),
}
FIGURES = {
    "plot": ("copies-by-site.svg", ["tools/plot", *RUNS]),
    "baseline plot": (f"{figures.PLANS[0].file}.svg", ["tools/baseline", "plot", DATA / "baseline-host.json"]),
}
WRITERS = {**FOLDERS, **FIGURES}


@pytest.fixture(name="run", scope="module")
def fixture_run(tmp_path_factory):
    """Runs a tool into a folder, in a fork of this process, which has loaded them all."""
    scripts.load()
    place = tmp_path_factory.mktemp("elsewhere")
    return lambda words, out: scripts.completed(words[0].removeprefix("tools/"), *words[1:],
                                                "--out", out, place=place)


@pytest.mark.parametrize("tool", FOLDERS)
def test_a_folder_of_somebody_else_is_not_touched(tmp_path, tool, run):
    first, words = FOLDERS[tool]
    out = victim(tmp_path / "out")
    victim(out / "6.12")
    for text in (None, "a page of mine\n"):
        if text:
            (out / first).write_text(text)
        before = snapshot(out)
        assert_refused(run(words, out), "not empty", "choose another --out")
        assert snapshot(out) == before


@pytest.mark.parametrize("tool", FIGURES)
def test_only_a_figure_is_replaced_by_a_figure(tmp_path, tool, run):
    name, words = FIGURES[tool]
    out = victim(tmp_path / "out")
    (out / name).write_text("my own drawing\n")
    before = snapshot(out)
    assert_refused(run(words, out), name, "is not a figure that these tools drew")
    assert {path: before[path] for path in before if path != str(out)}.items() <= \
        snapshot(out).items()


def test_a_figure_is_replaced_by_a_figure(tmp_path):
    for _ in range(2):
        for file in drawing.save(drawing.Page(2, 1, "a title", []).figure, tmp_path / "figure"):
            assert drawing.is_picture(file.read_bytes())


@pytest.mark.parametrize("tool", WRITERS)
def test_a_link_is_not_written_through(tmp_path, tool, run):
    name, words = WRITERS[tool]
    theirs, out = victim(tmp_path / "theirs"), tmp_path / "out"
    out.mkdir()
    before = snapshot(theirs)
    for link in (f".{name}.part", name):
        (out / link).symlink_to(theirs / "precious.txt")
    assert_refused(run(words, out))
    assert snapshot(theirs) == before and (out / name).is_symlink()


@pytest.mark.parametrize("tool", WRITERS)
def test_root_refuses_a_folder_that_others_can_change(tmp_path, tool, run):
    out = give_away(tmp_path / "out", 0o755)
    assert_refused(run(WRITERS[tool][1], out), "belongs to user")
    os.chown(out, 0, 0)
    out.chmod(0o777)
    assert_refused(run(WRITERS[tool][1], out / "inner"), "other users may write")
    assert not list(out.iterdir())


def test_a_kept_baseline_is_kept_again_and_its_figures_go_through_no_link(tmp_path, run, monkeypatch):
    # Each takes a second to draw; the fork has what is set here.
    monkeypatch.setattr(figures, "PLANS", figures.PLANS[:1])
    out, theirs = tmp_path / "out", victim(tmp_path / "theirs")
    words = FOLDERS["keep"][1]
    assert run(words, out).returncode == 0
    assert run(words, out).returncode == 0
    shutil.rmtree(out / "figures")
    (out / "figures").symlink_to(theirs)
    os.chown(out / "figures", 65534, 65534, follow_symlinks=False)
    before = snapshot(theirs)
    assert_refused(run(words, out), "a link of user")
    assert snapshot(theirs) == before


def test_beside_lmbench_claims_its_folder_before_it_measures(tmp_path):
    out = victim(tmp_path / "out")
    before = snapshot(out)
    with pytest.raises(Unusable, match="not empty"):
        beside.make_place(out)
    assert snapshot(out) == before
    ours = tmp_path / "ours"
    beside.make_place(ours)
    (ours / "beside.json").write_text(json.dumps({"schema": beside.SCHEMA}))
    beside.make_place(ours)


def test_the_committed_folders_are_known_as_their_tools_own():
    for name, proofs in (("matrix", {"matrix.md": "# Kernels, paths and what was copied"}),
                         ("ways", {"ways.md": "# Every way to send and to receive"}),
                         ("baseline", {"PROVENANCE.md": "# The machine baseline"})):
        with output_folder.OutputFolder.at(ROOT / "results" / name, make=False) as place:
            place.claim(name, {file: output_folder.has_line(line)
                               for file, line in proofs.items()})


def archive(**files: str) -> io.BytesIO:
    """A tar of a guest: text makes a file, "->NAME" a link, "/" a folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            if text == "/":
                member.type = tarfile.DIRTYPE
            elif text.startswith("->"):
                member.type, member.linkname = tarfile.SYMTYPE, text[2:]
            else:
                member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    made.seek(0)
    return made


def test_an_archive_that_lies_is_told_and_writes_nothing_half(tmp_path):
    cut = tarfile.TarInfo("record.json")
    cut.size = 1 << 20
    sparse = tarfile.TarInfo("sparse")
    sparse.type = tarfile.GNUTYPE_SPARSE
    for act in (lambda data: output.unpack(data, tmp_path / "cut"),
                lambda data: output.one_file(data, "record.json")):
        with pytest.raises(CommandError, match="came back damaged"):
            act(io.BytesIO(cut.tobuf(tarfile.GNU_FORMAT) + b"x" * 512))
    assert not list((tmp_path / "cut").iterdir())
    # What is written as a few bytes may be read as an exbibyte.
    assert output.unpack(io.BytesIO(sparse.tobuf(tarfile.GNU_FORMAT)), tmp_path) == ["sparse"]


def test_folders_as_deep_as_a_guest_likes_are_made(tmp_path):
    try:
        assert not output.unpack(archive(**{"d__" * 1500 + "file": "deep"}), tmp_path)
        assert subprocess.run(["find", tmp_path, "-name", "file"], capture_output=True,
                              check=True).stdout
    finally:
        # Too deep for what removes the folders of tests.
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_guest_does_not_boot_for_a_folder_that_cannot_be_written_to(tmp_path):
    theirs = give_away(tmp_path / "theirs", 0o755)
    words = [ROOT / "tools" / "guest", "--kernel", "6.12", "--out", theirs / "new", "--", "true"]
    assert_refused(subprocess.run(words, capture_output=True, text=True, check=False, timeout=60),
                   "belongs to user", "choose another --out")
    assert not list(theirs.iterdir())


@pytest.mark.parametrize("tool", [*WRITERS, "beside_lmbench", "guest"])
def test_an_empty_name_is_not_this_folder(tool, run):
    words = {"beside_lmbench": ["tools/beside_lmbench", "--bin", "/"],
             "guest": ["tools/guest", "--kernel", "6.12"]}.get(tool) or WRITERS[tool][1]
    assert_refused(run(words, ""), "--out", "the name is empty")


@pytest.mark.parametrize("words", [["tools/predict"], ["tools/sweep", "--profile", "standard"]])
def test_a_baselines_record_among_other_files_makes_no_folder_ours(tmp_path, words, run):
    out = victim(tmp_path / "out")
    shutil.copy(DATA / "baseline-host.json", out / "baseline.json")
    (out / "tidy.csv").write_text("mine\n")
    before = snapshot(out)
    assert_refused(run(words, out), "not empty", "choose another --out")
    assert snapshot(out) == before
    for name in os.listdir(out):
        if name != "baseline.json":
            shutil.rmtree(out / name) if (out / name).is_dir() else (out / name).unlink()
    with output_folder.OutputFolder.at(out) as place:
        place.claim("a sweep", sweep_folder.PROOFS, sweep_folder.BEGUN)


def test_what_a_guest_left_goes_through_no_link(tmp_path):
    theirs = victim(tmp_path / "theirs")
    before = snapshot(theirs)
    for name, files in (("file", {"link": "new"}), ("folder", {"link__deep__new": "new"})):
        out = tmp_path / name
        out.mkdir()
        (out / "link").symlink_to(theirs / "precious.txt" if name == "file" else theirs)
        with pytest.raises(Unusable, match="link"):
            output.unpack(archive(**files), out)
    assert output.unpack(archive(link=f"->{theirs}", ok__fine="fine"), tmp_path / "new") == ["link"]
    assert (tmp_path / "new" / "ok" / "fine").read_text() == "fine"
    assert snapshot(theirs) == before


def test_a_kill_leaves_no_part_of_a_file_behind(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    # As if the file system had no nameless files, and the kill had come before the rename.
    part = tmp_path / f".copyscope-{'0' * 16}.part"
    part.write_text("half")
    with output_folder.OutputFolder.at(tmp_path) as place:
        place.claim("a test", {"plan.json": lambda data: True})
        place.write("plan.json", "whole")
        place.write("new.json", "whole")
    assert {each.name for each in tmp_path.iterdir()} == {"plan.json", "new.json"}
