# SPDX-License-Identifier: GPL-2.0
"""Pages of claims and the static site in a browser without a window: nothing overflows, is fetched or is hard to read."""
from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.claims_page import folder_with_page

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.long,
              pytest.mark.skipif(not BROWSER, reason="chromium is missing: tools/setup --with-tests installs it")]
# What Blink calls light and dark, and the ground of each.
SCHEMES = {"light": ("1", "rgb(255, 255, 255)"), "dark": ("0", "rgb(18, 22, 28)")}
LEAST_CONTRAST = 4.5
# Shows each page in a frame as wide as a phone, or a screen, with all of it unfolded, and tells what it sees.
FRAME = """<!DOCTYPE html><body><script>
const told = {};
// What was mixed is told as parts of one, all else as parts of 255.
const numbers = colour => (colour.match(/[0-9.]+/g) || []).map(
  (each, at) => at < 3 && colour.startsWith("color(") ? 255 * each : Number(each));
const light = rgb => rgb.slice(0, 3).map(each => each / 255).map(
  each => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4
).reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
const ground = (view, of) => {
  for (; of; of = of.parentElement) {
    const found = numbers(view.getComputedStyle(of).backgroundColor);
    if (found.length === 3 || found[3] === 1) return found;
  }
  return [0, 0, 0];
};
const contrast = (view, of) => {
  const style = view.getComputedStyle(of);
  const two = [light(numbers(of.closest("svg") ? style.fill : style.color)), light(ground(view, of))];
  return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
};
const look = frame => {
  const page = frame.contentDocument, root = page.documentElement, view = frame.contentWindow;
  page.querySelectorAll("details").forEach(each => { each.open = true; });
  const worst = {};
  const walk = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  for (let each = walk.nextNode(); each; each = walk.nextNode()) {
    if (!each.data.trim()) continue;
    const found = contrast(view, each.parentElement);
    if (found < LEAST) worst[each.parentElement.tagName + " " + each.parentElement.className.toString()] = found;
  }
  const out = [...page.querySelectorAll("main *")].filter(each => !each.closest(".wide, pre, svg, picture") &&
    each.getBoundingClientRect().right > root.clientWidth + 1).map(each => each.tagName + " " + each.className);
  return { wide: root.scrollWidth - root.clientWidth, out: out.slice(0, 5), worst: worst,
           broken: [...page.images].filter(each => each.complete && !each.naturalWidth).map(each => each.src),
           ground: view.getComputedStyle(page.body).backgroundColor };
};
const show = async pages => {
  for (const width of [375, 1280]) for (const url of pages) {
    const frame = document.createElement("iframe");
    frame.style = `width:${width}px;height:900px;border:0`;
    frame.src = url;
    document.body.append(frame);
    await new Promise(done => { frame.onload = done; });
    told[`${width} ${url}`] = look(frame);
    frame.remove();
  }
  document.body.innerHTML = "<pre></pre>";
  document.querySelector("pre").textContent = JSON.stringify(told);
};
onload = () => show(PAGES);
</script>"""


@pytest.fixture(name="small", scope="module")
def fixture_small(tmp_path_factory):
    """The page of a small folder of results."""
    return folder_with_page(tmp_path_factory.mktemp("tree") / "results") / "claims"


@pytest.fixture(name="pages", scope="module", params=["small", "committed", "site"])
def fixture_pages(request, small, tmp_path_factory) -> list[Path]:
    """The pages of claims, of a small folder and of the one that is kept; what the static site has besides."""
    kept = small if request.param == "small" else ROOT / "results" / "claims"
    if not (kept / "index.html").is_file():
        pytest.skip("results/claims is not here: a release has no results")
    if request.param != "site":
        return sorted(kept.glob("*.html"))
    made = tmp_path_factory.mktemp("site") / "made"
    subprocess.run([ROOT / "packaging/site", made], check=True, capture_output=True)
    return sorted([*made.glob("*.html"), *made.glob("docs/*.html")])


@pytest.fixture(name="looks", scope="module")
def fixture_looks(pages, tmp_path_factory):
    """By scheme, what is seen of all pages, and what they ask a network for."""
    return {scheme: seen(tmp_path_factory.mktemp(scheme), pages, f"--blink-settings=preferredColorScheme={number}")
            for scheme, (number, _) in SCHEMES.items()}


def in_browser(tmp_path: Path, *words: str) -> str:
    """What a browser without a window, and without a network, prints."""
    return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                           "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=60000",
                           "--disable-background-networking", "--disable-component-update",
                           f"--user-data-dir={tmp_path / 'browser'}", *words],
                          capture_output=True, check=True, text=True, timeout=120).stdout


def seen(tmp_path: Path, pages: list[Path], *words: str) -> tuple[dict[str, dict], set[str]]:
    """What is wrong with each page at each width; and what they ask a network for, without the browser's own
    requests."""
    frame, log = tmp_path / "frame.html", tmp_path / "net.json"
    frame.write_text(FRAME.replace("LEAST", str(LEAST_CONTRAST))
                     .replace("PAGES", json.dumps([each.as_uri() for each in pages])))
    said = in_browser(tmp_path, *words, f"--log-net-log={log}", "--dump-dom", frame.as_uri())
    asked = [each.get("params", {}) for each in json.loads(log.read_text())["events"]]
    return json.loads(html.unescape(re.search("<pre>(.*)</pre>", said)[1])), {
        each["url"] for each in asked if "url" in each and each.get("initiator") in ("file://", "null")
        and not each["url"].startswith(("file:", "data:"))}


def test_nothing_overflows_and_all_can_be_read_by_day_and_by_night(pages, looks):
    for scheme, (told, _) in looks.items():
        assert len(told) == 2 * len(pages) > 10
        for name, found in told.items():
            assert found == {"wide": 0, "out": [], "worst": {}, "broken": [], "ground": SCHEMES[scheme][1]}, (scheme, name)


def test_no_page_asks_for_anything_of_a_network(looks):
    assert not any(asked for _, asked in looks.values())


def test_a_browser_prints_it(pages, tmp_path):
    index = next(each for each in pages if each.name == "index.html")
    in_browser(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", index.as_uri())
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_a_fault_would_be_seen(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<!DOCTYPE html><body style='background:#fff'><main><p style='width:2000px;color:#999'>x</p>"
                   "<img src='http://example.org/x.png'></main>")
    told, asked = seen(tmp_path, [bad])
    found = told[f"375 {bad.as_uri()}"]
    assert found["wide"] > 0 and found["out"] and found["worst"]
    assert asked == {"http://example.org/x.png"}
