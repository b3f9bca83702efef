# SPDX-License-Identifier: GPL-2.0
"""The report as a page has what the record says, escapes what is foreign, and fetches nothing."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from copyscope.common.tables import names
from copyscope.records_cmd import command
from helpers import watches
from helpers.pictures import REAL

from .test_stacks import record_with_stacks

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EVIL = '<script>alert("1")</script>&'


def share(samples: int) -> dict:
    """A class of so many samples of 200."""
    return {"samples": samples, "softirq_samples": samples // 10, "share": samples / 200,
            "share_low": samples / 400, "share_high": min(1.0, samples / 100)}


def sampled(comm: str) -> dict:
    """A record of one process that was sampled."""
    process = watches.process(812, comm, watches.moved(94139, 500, tx_copy=94139, rx_copy=500))
    classes = {each: share(0) for each in names("cpu_classes")} | {"send_copy": share(60), "user": share(140)}
    process["cpu"] = {"samples": 200, "copies": share(60), "threads": 1, "sampled_seconds": 1.0, "clock_seconds": 1.0,
                      "clock_law": "balanced", "classes": classes}
    made = watches.watch_record(process)
    return made | {"cpu": {"hz": 199, "lost_samples": 0, "clock": "cpu-clock", "why": None}}


def page_of(data: dict, folder: Path) -> str:
    """The page of a record."""
    (folder / "record.json").write_text(json.dumps(data), encoding="utf-8")
    assert command.main(["show", str(folder / "record.json"), "--html", str(folder / "page.html")]) == 0
    return (folder / "page.html").read_text(encoding="utf-8")


def fetched(page: str) -> list[str]:
    """What a browser would fetch."""
    found = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page)
    return [each for pair in found for each in pair if each and not each.startswith(("#", "data:"))]


def test_a_page_of_a_run_has_its_sites_laws_and_map(tmp_path):
    page = page_of(REAL["A3-host"], tmp_path)
    assert not fetched(page) and page.count("<svg") == 1 and "copymap-" in page
    for law in REAL["A3-host"]["laws"]:
        assert f'<th scope="row">{law["law"]}</th><td>{law["status"]}</td>' in page
    assert REAL["A3-host"]["experiment"]["verdict"][:40] in page
    assert "CPU time" not in page


def test_a_page_of_a_watch_has_shares_with_their_intervals(tmp_path):
    page = page_of(sampled("nginx"), tmp_path)
    assert "nginx, pid 812: 30 % (15 to 60) of its CPU time went into copying payload" in page
    assert "copying payload in send; 6 of 60 samples in softirqs" in page and 'style="width: 70.0%"' in page
    # Of classes that no sample found nothing stands there, nor of TLS that moved no byte.
    assert "checksums" not in page and "TLS send" not in page
    assert "nginx, pid 812</th><td>94.1 kB" in page


def test_a_page_of_stacks_and_sizes_has_a_flame_graph_and_histograms(tmp_path):
    made = record_with_stacks()
    page = page_of(made, tmp_path)
    assert page.count('class="flame"') == 1 and not fetched(page)
    assert 'class="sorts n1 n2 n5">\n<caption>Stacks that moved most' in page and ".n1 tr > :nth-child(1)" in page
    # A rule of a drawing holds for all of the page.
    assert all(rule.startswith(".flame ") for style in re.findall("<style>([^<]*)</style>", page[page.index("flame"):])
               for rule in re.findall(r"[^{}]+(?={)", style))
    assert "Sizes of calls" not in page
    # Those of a whole watch stand in the same words as its report.
    page = page_of(made | {"sizes": None}, tmp_path)
    assert "<summary>Sizes of calls</summary>" in page and "not measured: the hooks of calls are missing" in page


def test_the_map_of_who_moved_most_is_seen_and_the_others_unfold(tmp_path):
    pids = {800 + number: 1000 * (number + 1) for number in range(6)}
    page = page_of(watches.watch_record(*[watches.process(pid, "nginx", watches.moved(sent, 0, tx_copy=sent))
                                          for pid, sent in pids.items()]), tmp_path)
    seen, folded = page.partition("<summary>Of the process that moved most after it")[::2]
    assert seen.count("<svg") == 1 and "nginx, pid 805 on this machine" in seen
    assert folded.count("<svg") == 1 and "nginx, pid 804 on this machine" in folded


def test_names_of_others_are_text(tmp_path):
    page = page_of(sampled(EVIL), tmp_path)
    assert page.count("<script") == 1 and EVIL not in page and "&lt;script&gt;" in page and not fetched(page)


def test_of_10_000_processes_the_page_has_those_that_copied_most(tmp_path):
    page = page_of(watches.watch_record(*[watches.process(pid, "nginx", watches.moved(1000 * pid, 0, tx_copy=1000 * pid))
                                          for pid in range(1, 1203)]), tmp_path)
    assert "nginx, pid 203</th>" in page and "nginx, pid 202</th>" not in page
    assert "And 202 more: copyscope show --csv --by process has all." in page


# Presses heads of columns of the first table, and tells what stands in it then.
PRESS = """<script>
const table = document.querySelector("table"), told = [];
const press = name => {
  const head = [...table.tHead.rows[0].cells].find(each => each.textContent === name), button = head.querySelector("button");
  button.focus();
  button.click();
  told.push([document.activeElement === button, head.getAttribute("aria-sort"), table.querySelectorAll("[aria-sort]").length,
             ...[...table.tBodies[0].rows].map(row => row.cells[0].textContent.split(",")[0])]);
};
["sent", "sent", "service", "service", "avoidable", "avoidable"].forEach(press);
document.body.textContent = "TOLD" + JSON.stringify(told) + "END";
</script>"""


@pytest.mark.skipif(not BROWSER, reason="chromium is missing: tools/setup --with-tests installs it")
def test_heads_of_columns_sort_by_value(tmp_path):
    sent = {"web": 999, "db10": 2_000_000, "db9": 12_300, "cache": 150_000_000}
    processes = [watches.process(800 + at, comm, watches.moved(count, 0, tx_copy=count))
                 for at, (comm, count) in enumerate(sent.items())]
    # What of it was avoidable is not known of the first.
    for each in processes[1:]:
        each["sum"]["fate"]["declined_bytes"] = 0
    page = page_of(watches.watch_record(*processes), tmp_path)
    (tmp_path / "pressed.html").write_text(page.replace("</body>", PRESS + "</body>"), encoding="utf-8")
    shown = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}",
                            "--dump-dom", tmp_path / "pressed.html"], capture_output=True, text=True, check=True).stdout
    told = json.loads(shown.partition("TOLD")[2].partition("END")[0])
    falls = ["cache", "db10", "db9", "web"]
    assert told[:2] == [[True, "descending", 1, *falls], [True, "ascending", 1, *falls[::-1]]]
    names = ["cache", "db9", "db10", "web"]
    assert told[2:4] == [[True, "ascending", 1, *names], [True, "descending", 1, *names[::-1]]]
    # What is not measured is no number: either way it comes last.
    assert [each[-1] for each in told[4:]] == ["web", "web"]


@pytest.mark.parametrize("words, why", [
    (["list", "--html", "x"], "of show"), (["show", "last", "last", "--html", "x"], "one ID"),
    (["show", "last", "--csv", "--html", "x"], "without"), (["show", "last", "--html", "/"], "folder")])
def test_what_makes_no_page_is_one_line(words, why, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    (tmp_path / "record.json").write_text(json.dumps(REAL["A3-host"]))
    assert command.main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and why in said.err
