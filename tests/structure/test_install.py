# SPDX-License-Identifier: GPL-2.0
"""What make install leaves works from anywhere, explains itself, and can be removed whole."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from copyscope.dispatch.words import WORDS

ROOT = Path(__file__).resolve().parents[2]
RELEASE = re.compile(r"copyscope \d+\.\d+\.\d+ \(.+\)\n")
COMMANDS = ["copyscope", "copyscope-collect", "trace_run"]
# What another program has in the same place, and an older release had.
OTHER, GONE = "other", "lib/copyscope/tools/gone"
# Each page with its section: 8 is for what needs root.
SECTIONS = {f"copyscope-{word.name}": word.section for word in WORDS} | {
    "copyscope": 1, "copyscope-collect": 8, "trace_run": 8}
PAGES = sorted(SECTIONS)


def install(*words: str | Path) -> subprocess.CompletedProcess:
    """Run tools/install_tree, which must succeed."""
    done = subprocess.run([ROOT / "tools/install_tree", *words], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(name="installed", scope="module")
def fixture_installed(tmp_path_factory):
    """A copy beside what others have there and over an older release, moved after it was made."""
    prefix = tmp_path_factory.mktemp("install") / "first"
    (prefix / "share/man/man8").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / OTHER).write_text("of somebody else\n")
    # As an older release left it, which had a file that is gone now.
    gone = ["lib/", "lib/copyscope/", "lib/copyscope/tools/", GONE, "lib/copyscope/installed"]
    (prefix / GONE).parent.mkdir(parents=True)
    (prefix / GONE).write_text("")
    (prefix / "lib/copyscope/installed").write_text("\n".join(gone) + "\n")
    install("--at", "/opt/copyscope", prefix)
    return prefix.rename(prefix.with_name("second"))


@pytest.fixture(name="run")
def fixture_run(installed, tmp_path):
    """Runs an installed command from elsewhere."""
    def run(command: str, *words: str | Path, **more: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "COPYSCOPE_RUNS": str(tmp_path / "runs"), "LC_ALL": "C",
                       "MANPAGER": "cat", **more}
        return subprocess.run([installed / "bin" / command, *words], cwd=tmp_path, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                              env=environment)
    return run


def test_these_commands_are_installed(installed):
    assert {file.name for file in (installed / "bin").iterdir()} == {*COMMANDS, OTHER}


def test_a_command_answers_help_and_version(run):
    for command in COMMANDS:
        for word in ("-V", "--version"):
            done = run(command, word)
            assert done.returncode == 0 and RELEASE.fullmatch(done.stdout) and not done.stderr, (command, done)
        texts = [run(command, word).stdout for word in ("-h", "--help")]
        assert texts[0] == texts[1] and "sage: " in texts[0], command
        # As it is called here, not as in the source tree.
        assert re.search(rf"[Uu]sage: {command} ", texts[0]), texts[0][:200]
        assert "./tools/" not in texts[0], command


def test_a_word_works_from_anywhere(run):
    for words in (["guest", "--list"], ["baseline", "--list"], ["help", "run"], ["help", "sweep"], ["run", "--list"]):
        done = run("copyscope", *words)
        assert done.returncode == 0 and done.stdout, (words, done.stderr)


def test_a_home_that_cannot_be_written_to_hinders_no_help(run):
    done = run("copyscope", "--version", HOME="/proc", COPYSCOPE_RUNS="", XDG_STATE_HOME="/proc/none")
    assert done.returncode == 0 and not done.stderr


def test_messages_name_the_installed_command(run):
    done = run("copyscope", "show")
    assert done.returncode == 2 and "copyscope list has them" in done.stderr, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: probes need it")
def test_an_installed_run_keeps_its_record_where_it_is_told(run, tmp_path):
    done = run("trace_run", "A2", "4093", "1", "--messages", "23")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs").glob("*.json"))) == 1


def test_an_installed_baseline_keeps_its_record_where_it_is_told(run, tmp_path):
    done = run("copyscope", "baseline", "--quick", "--runs", "2", "--only", "call-0", "--dir", "/var/tmp")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs").glob("*.baseline.json"))) == 1


def test_an_installed_copy_draws(run, tmp_path):
    done = run("copyscope", "plot", ROOT / "tests/data/run-A1-host.json", "--out", tmp_path / "figures")
    assert done.returncode == 0 and list((tmp_path / "figures").rglob("*.svg")), done.stderr


@pytest.mark.parametrize("module, words", [
    ("matplotlib", ["copyscope", "plot", ROOT / "tests/data/run-A1-host.json", "--out", "figures"]),
    ("jinja2", ["copyscope", "claims", "report", "results", "--out", "page"])])
def test_without_a_module_its_package_is_named(run, tmp_path, module, words):
    (tmp_path / f"{module}.py").write_text(
        f"raise ModuleNotFoundError(\"No module named '{module}'\", name='{module}')\n")
    (tmp_path / "results").mkdir()
    done = run(*words, PYTHONPATH=str(tmp_path))
    assert done.returncode == 3 and f"install the package python3-{module}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_installed_copy_writes_the_page(run, tmp_path):
    (tmp_path / "results").mkdir()
    done = run("copyscope", "claims", "report", "results", "--out", "page")
    assert done.returncode == 0 and (tmp_path / "page/index.html").is_file(), done.stderr


def test_nothing_is_written_beside_the_programs(run, installed):
    before = sorted(installed.rglob("*"))
    for words in (["guest", "--list"], ["list"], ["plot", "--help"]):
        run("copyscope", *words)
    assert sorted(installed.rglob("*")) == before


@pytest.mark.long
def test_a_release_is_the_same_twice(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: a release is made of a commit")
    made = []
    for name in ("first", "second"):
        done = subprocess.run([ROOT / "packaging/dist", "--out", tmp_path / name], text=True,
                              capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        made.append(Path(done.stdout.strip()).read_bytes())
    assert made[0] == made[1] and len(made[0]) < 1 << 23


def test_the_package_needs_what_a_build_needs():
    control = (ROOT / "debian/control").read_text()
    needs = control.partition("Build-Depends:")[2].partition("Standards-Version:")[0]
    needed = set(re.findall(r"^ *([a-z0-9.+-]+)", needs, re.MULTILINE))
    listed = (ROOT / "tools/packages.txt").read_text().partition("# to build")[2].partition("# to run")[0]
    # gcc, make and the C library are there in every build; the release names its commit itself.
    always = {"gcc", "libc6-dev", "make", "git"}
    assert set(re.findall(r"^(?:debian: )?([a-z0-9.+-]+) ", listed, re.MULTILINE)) - always <= needed


def test_the_package_and_the_changes_are_of_this_release():
    release = json.loads((ROOT / "tools/lib/copyscope/common/tables.json").read_text())["release"]
    assert (ROOT / "debian/changelog").read_text().startswith(f"copyscope ({release}-")
    assert re.search(r"^## (\d\S*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == release


def test_the_list_of_packages_has_each_with_its_version_and_licences(tmp_path):
    done = subprocess.run([ROOT / "packaging/sbom", "--out", tmp_path], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    found = json.loads(Path(done.stdout.strip()).read_text())
    named = {each["name"]: each for each in found["packages"]}
    known = {each["SPDXID"] for each in found["packages"]} | {"SPDXRef-DOCUMENT"}
    assert found["spdxVersion"] == "SPDX-2.3" and len(known) == len(found["packages"]) + 1
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in known)
    assert all({each["spdxElementId"], each["relatedSpdxElement"]} <= known for each in found["relationships"])
    # What the programs are linked with is what a package of them depends on.
    linked = {each["relatedSpdxElement"] for each in found["relationships"]
              if each["relationshipType"] == "DYNAMIC_LINK"}
    assert {f"SPDXRef-deb-{name}" for name in ("libbpf1", "libjansson4", "libc6")} <= linked
    for name in ("libbpf1", "clang", "iproute2"):
        version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], capture_output=True, text=True,
                                 check=True).stdout
        assert named[name]["versionInfo"] == version and "GPL-2" in named[name]["licenseComments"]
    assert named["copyscope"]["licenseDeclared"] == "GPL-2.0-only"
    done = subprocess.run([ROOT / "packaging/sbom", "more"], capture_output=True, text=True, check=False)
    assert done.returncode == 2


def test_scripts_around_a_release_refuse_what_they_do_not_know():
    for script in ("packaging/dist", "packaging/deb", "tests/fresh"):
        for words, status in ((["--help"], 0), (["no such word"], 2), (["--suite"], 2)):
            done = subprocess.run([ROOT / script, *words], capture_output=True, text=True, check=False)
            assert done.returncode == status and done.stderr.count("\n") == (status == 2), done


# Two packages

def stanzas() -> list[dict[str, str]]:
    """The binary packages of debian/control."""
    text = (ROOT / "debian/control").read_text()
    return [dict(re.findall(r"^([\w-]+): ((?:.|\n )*)", each, re.MULTILINE)) for each in text.split("\n\n")[1:]]


@pytest.fixture(name="packages", scope="module")
def fixture_packages(installed, tmp_path_factory) -> dict[str, Path]:
    """What both packages have, below usr/."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(installed, folder / "copyscope/usr", symlinks=True)
    subprocess.run([ROOT / "packaging/split_studies", folder / "copyscope/usr", folder / "copyscope-studies/usr"],
                   check=True)
    return {each.name: each for each in folder.iterdir()}


def test_the_collector_s_package_works_alone_and_names_the_other(packages, tmp_path):
    commands = packages["copyscope"] / "usr/bin"
    here = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False,
            "env": {**os.environ, "COPYSCOPE_RUNS": str(tmp_path / "runs")}}
    record = ROOT / "tests/data/run-A1-host.json"
    for words in (["show", record], ["watch", "--help"], ["fleet", "--help"], ["advise", "--help"]):
        done = subprocess.run([commands / "copyscope", *words], **here)
        assert done.returncode == 0 and done.stdout, (words, done.stderr)
    for words in ([commands / "copyscope", "plot", record], [commands / "trace_run", "A1", "64", "1", "--kernel", "6.12"]):
        done = subprocess.run(words, **here)
        assert done.returncode == 3 and "the package copyscope-studies" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


def test_the_packages_share_no_file_and_are_an_install_together(packages, installed):
    files = {name: {path.relative_to(place / "usr") for path in place.rglob("*") if not path.is_dir() or path.is_symlink()}
             for name, place in packages.items()}
    assert not files["copyscope"] & files["copyscope-studies"]
    # The list of what make install left is no part of a package.
    assert files["copyscope"] | files["copyscope-studies"] == {
        path.relative_to(installed) for path in installed.rglob("*") if not path.is_dir() or path.is_symlink()}
    assert not [name for name in files["copyscope"] if "figures" in name.parts or "guest" in name.parts]


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="dpkg-deb is missing")
def test_dpkg_takes_both_packages_and_the_collector_s_needs_neither_matplotlib_nor_qemu(packages, tmp_path):
    fields = {each["Package"]: each for each in stanzas()}
    assert set(fields) == set(packages) and not re.search(
        "matplotlib|qemu|jinja2", "".join(fields["copyscope"].get(each, "") for each in ("Depends", "Recommends", "Suggests")))
    assert not [name for name in fields["copyscope"] if name in ("Homepage", "Vcs-Git", "Vcs-Browser")]
    for name, place in packages.items():
        control = re.sub(r"\$\{(?!binary:Version)[^}]*\},?", "", "".join(
            f"{key}: {value}\n" for key, value in fields[name].items()).replace("${binary:Version}", "1"))
        control = re.sub(r",\s*\n(?! )", "\n", re.sub(r"\n +\n", "\n", control)).replace("amd64 arm64", "amd64")
        (place / "DEBIAN").mkdir()
        (place / "DEBIAN/control").write_text(f"{control}Version: 1\nMaintainer: nobody <nobody@example.org>\n")
        done = subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Znone", place, tmp_path / f"{name}.deb"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, control + done.stderr
        listed = subprocess.run(["dpkg-deb", "--contents", tmp_path / f"{name}.deb"], capture_output=True, text=True,
                                check=True).stdout
        assert ("./usr/bin/copyscope-collect" in listed) == (name == "copyscope")
        shutil.rmtree(place / "DEBIAN")


def test_the_unit_starts_the_copy_that_it_came_with(installed):
    unit = (installed / "lib/systemd/system/copyscope.service").read_text()
    assert "ExecStart=/opt/copyscope/bin/copyscope watch " in unit
    assert (installed / "share/copyscope/prometheus/copyscope.rules.yml").is_file()


# Manual pages

def page_of(installed: Path, name: str) -> Path:
    """The page of a command."""
    return installed / f"share/man/man{SECTIONS[name]}/{name}.{SECTIONS[name]}"


def test_a_manual_page_has_its_sections(installed):
    for name in PAGES:
        sections = re.findall(r"^\.SH (.*)", page_of(installed, name).read_text(), re.MULTILINE)
        for wanted in ("NAME", "SYNOPSIS", "DESCRIPTION", "OVERHEAD", "SEE ALSO"):
            assert sections.count(wanted) == 1, (name, wanted)
        assert "OPTIONS" in sections or "COMMANDS" in sections, name


@pytest.mark.skipif(not shutil.which("man"), reason="man is missing")
def test_a_manual_page_is_well_formed(installed):
    environment = {**os.environ, "LC_ALL": "C", "MANPAGER": "cat"}
    for name in PAGES:
        page = page_of(installed, name)
        done = subprocess.run(["man", "-l", "--warnings", page], capture_output=True, text=True,
                              check=False, env=environment)
        assert done.returncode == 0 and not done.stderr, (name, done.stderr)
        assert f"{name}({SECTIONS[name]})".upper() in done.stdout or page.is_symlink(), name


def test_every_page_of_a_command_is_there(installed):
    assert sorted(file.stem for file in (installed / "share/man").glob("man*/*")) == PAGES
    assert not {name for name in ("list", "show", "plot", "fleet") if SECTIONS[f"copyscope-{name}"] != 1}


def test_a_page_has_every_option_that_help_has(installed, run):
    for word in ("sweep", "crossover", "guest"):
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run("copyscope", word, "--help").stdout, re.M))
        page = page_of(installed, f"copyscope-{word}").read_text().replace("\\-", "-")
        assert options and all(f".B {option}" in page or f", {option}" in page for option in options)


# Documents

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)|src(?:set)?=\"([^\"]+)\"")


def test_every_link_of_an_installed_page_lands_in_the_install(installed):
    place = installed / "share/doc/copyscope"
    pages = sorted(place.rglob("*.md"))
    assert {"README.md", "docs/INDEX.md", "docs/METHOD.md"} <= {
        str(page.relative_to(place)) for page in pages}
    links = [(page, name) for page in pages for pair in LINK.findall(page.read_text()) for name in pair
             if name and not name.startswith("http")]
    assert (place / "README.md", "docs/terminal-light.svg") in links and len(links) > 30
    for page, name in links:
        target = (page.parent / name).resolve()
        assert target.is_file() and target.is_relative_to(installed.resolve()), (page, name)


def test_installed_pages_name_installed_commands(installed):
    place = installed / "share/doc/copyscope"
    text = "".join(page.read_text() for page in [place / "README.md", *place.glob("docs/*.md")])
    assert not re.findall(r"\./tools/\w+", text) and "sudo copyscope watch --comm" in text
    lines = set(re.findall(r"^    (?:sudo )?copyscope ([\w-]+)", text, re.MULTILINE))
    assert {"watch", "sweep", "plot", "list", "compare", "guest"} <= lines
    assert lines <= {word.name for word in WORDS} | {"help"}


# Removing it

def below(folder: Path) -> list[Path]:
    """All files and folders."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


def test_what_was_there_before_is_all_that_stays(installed, tmp_path):
    assert not (installed / GONE).exists()
    prefix = Path(shutil.copytree(installed, tmp_path / "usr", symlinks=True))
    install("--remove", prefix)
    assert below(prefix) == [Path(name) for name in ("bin", f"bin/{OTHER}", "share", "share/man", "share/man/man8")]


def test_nothing_to_remove_is_told(tmp_path):
    done = subprocess.run([ROOT / "tools/install_tree", "--remove", tmp_path], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_the_package_s_folders_have_the_usual_modes(installed):
    for path in [installed / "lib", *(installed / "lib").rglob("*")]:
        if not path.is_symlink():
            assert path.stat().st_mode & 0o777 in (0o755, 0o644), path
