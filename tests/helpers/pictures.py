# SPDX-License-Identifier: GPL-2.0
"""Makes records for figures by varying real ones, and looks at figures: text, ink, marks."""
from __future__ import annotations

import contextlib
import copy
import io
import json
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import numpy
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from copyscope.common.tables import SITES
from copyscope.figures import command
from copyscope.records.older import upgraded
from copyscope.records.run_record import Point, Record

ROOT = Path(__file__).resolve().parents[2]


DATA = ROOT / "tests" / "data"
LONG = "a reason that nobody wrote with the width of a page in mind " * 6
REAL = {name: upgraded(json.loads((DATA / f"run-{name}.json").read_text()))
        for name in ("A1-host", "A2-host", "A3-host", "A3-guest")}


def made(base: str = "A3-host", number: int = 0, **changes: Any) -> dict[str, Any]:
    """A copy of a real record; `path__kind="lo"` sets path.kind of its experiment."""
    data = copy.deepcopy(REAL[base])
    data["id"] = f"20261120T000000.000-{number}"
    for key, value in changes.items():
        *folders, name = key.split("__")
        node = data["experiment"] if key.split("__")[0] in data["experiment"] else data
        for folder in folders:
            node = node[folder]
        node[name] = value
    return data


def sweep(variants=("A1", "A2", "A3"), sizes=(64, 4096, 65536), threads=(1, 4), repeats=3,
          **changes: Any) -> list[dict[str, Any]]:
    """Records of all combinations, each a little faster than the one before."""
    cells = [(variant, size, count, repeat) for variant in variants for size in sizes
             for count in threads for repeat in range(repeats)]
    records = []
    for number, (variant, size, count, repeat) in enumerate(cells):
        speed = size / 8000 * count ** 0.5 * (1 + variants.index(variant) * 0.3) * (1 + repeat / 9)
        base = f"{variant[:2]}-host" if f"{variant[:2]}-host" in REAL else "A3-host"
        records.append(made(base, number, **{
            "workload__bytes": size, "workload__threads": count, "workload__variant": variant,
            "workload__connections": count, "timing__throughput_gbps": speed, **changes}))
    return records


def counted(data: dict[str, Any], value: int = 12345678) -> dict[str, Any]:
    """The record with hardware counters."""
    for end in ("sender", "receiver"):
        for event in data["experiment"]["counters"][end].values():
            event.update(value=value, why=None)
    return data


def first_client(data: dict[str, Any], times: int) -> dict[str, Any] | None:
    """What a pass says of the first client, with so many times the messages."""
    for each in data["sockets"]:
        if (each["end"], each["connection"]) == ("receiver", 1):
            return {"messages": each["messages"] * times,
                    "received_bytes": each["counts"]["returned_bytes"] * times,
                    "latency_mean_us": each["latency_mean_us"] / times}
    return None


def two_passes(data: dict[str, Any], faster: int = 3, kinds=("timed", "counted")) -> dict[str, Any]:
    """The record with passes, which version 1 lacks. Its own numbers are those of the counted pass; the timed one
    moved `faster` times the messages in the same time."""
    made_passes: dict[str, Any] = {"timed": None, "counted": None, "why": None}
    timing, work = data["experiment"]["timing"], data["experiment"]["workload"]
    for kind in kinds:
        times = faster if kind == "timed" else 1
        gbps, latency = timing["throughput_gbps"], timing["latency_us"]
        made_passes[kind] = {
            "window_ns": timing["window_ns"], "elapsed_ns": timing["elapsed_ns"],
            "messages": work["messages"] * times, "accepted_bytes": work["accepted_bytes"] * times,
            "received_bytes": work["received_bytes"] * times,
            "throughput_gbps": None if gbps is None else gbps * times,
            "latency_us": None if latency is None else
            {key: value if key == "what" else value / times for key, value in latency.items()},
            "first_client": first_client(data, times),
            "counters": copy.deepcopy(data["experiment"]["counters"]),
            "tcp": {"accepted_bytes": work["accepted_bytes"] * times,
                    "returned_bytes": work["received_bytes"] * times, "retransmitted_bytes": 0,
                    "why": None}}
    if len(kinds) < 2:
        made_passes["why"] = "asked for one pass"
    first = made_passes[kinds[0]]
    for key in ("elapsed_ns", "window_ns", "throughput_gbps", "latency_us"):
        timing[key] = first[key]
    data["experiment"]["counters"], timing["pass"] = first["counters"], kinds[0]
    return {**data, "experiment": {**data["experiment"], "passes": made_passes}}


def as_records(documents: list[dict[str, Any]], point: Point | None = None) -> list[Record]:
    """Records as the loader gives them."""
    return [Record(data, Path(f"{number}.json"), point) for number, data in enumerate(documents)]


def site(data: dict[str, Any], name: str, share: float | None, how: str = "measured") -> None:
    """Set a site to a share of the payload; None: not measured."""
    payload = data["experiment"]["workload"]["received_bytes"]
    data["sites"].setdefault(name, {}).update(
        bytes=None if share is None else round(share * payload), how=how if share is not None
        else "not_measured", why="nothing looked" if share is None else None)
    assert name in SITES


def blind(data: dict[str, Any]) -> dict[str, Any]:
    """The record with no site measured."""
    for name in data["sites"]:
        site(data, name, None)
    data["pins"].update(pages=None, how="not_measured", why=LONG)
    return data


def write(folder: Path, documents: list[dict[str, Any]]) -> Path:
    """A folder of record files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(documents):
        (folder / f"{number:04}.json").write_text(json.dumps(data))
    return folder


def plot(*arguments: object) -> subprocess.CompletedProcess:
    """Run the command as a person would."""
    return subprocess.run([ROOT / "tools/plot", *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=120)


def plot_here(*arguments: object) -> subprocess.CompletedProcess:
    """The same in this process, which has what a new one takes a second to import. A traceback is one of the test."""
    words = [str(each) for each in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command.main(words)
    said = []
    for each in (out, err):
        each.flush()
        said.append(each.buffer.getvalue().decode())
    return subprocess.CompletedProcess(words, status, *said)


def drawn_texts(figure: Figure) -> list[Text]:
    """Every text that is really drawn, where it was drawn."""
    seen: list[Text] = []
    draw = Text.draw

    def record(self: Text, renderer: Any, *rest: Any, **named: Any) -> None:
        if self.get_visible() and self.get_text().strip() and self not in seen:
            seen.append(self)
        draw(self, renderer, *rest, **named)
    with mock.patch.object(Text, "draw", record):
        # Nobody looks at the pixels.
        figure.draw_without_rendering()
    return seen


def words(figure: Figure) -> str:
    """All text of a figure on one line."""
    return " ".join(" ".join(text.get_text().split()) for text in drawn_texts(figure))


def faults_of_text(figure: Figure) -> list[str]:
    """Texts that leave the page or touch each other."""
    texts = drawn_texts(figure)
    renderer = figure.canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    page = figure.bbox
    faults = [f"leaves the page: {name!r}" for name, box in boxes
              if box.x0 < 0 or box.y0 < 0 or box.x1 > page.x1 or box.y1 > page.y1]
    for index, (name, box) in enumerate(boxes):
        for other_name, other in boxes[index + 1:]:
            if min(box.x1, other.x1) - max(box.x0, other.x0) > 0.5 \
                    and min(box.y1, other.y1) - max(box.y0, other.y0) > 0.5:
                faults.append(f"overlap: {name!r} and {other_name!r}")
    return faults


def variance(picture: Path) -> float:
    """Spread of its pixels: 0 for a blank page."""
    return float(numpy.var(imread(picture)[..., :3]))


def modelled(data: dict[str, Any], misses: int = 1000) -> dict[str, Any]:
    """The record of two passes with what an emulator's plugin counted in the timed one."""
    counts = {"instructions": 70_000, "loads": 9000, "stores": 8000, "lines": 3000,
              **{f"{level}_{kind}": misses for level in ("l1d", "l2", "llc")
                 for kind in ("misses", "load_misses")}}
    level = {"bytes": 32768, "ways": 8}
    data["experiment"]["passes"]["timed"]["modelled"] = {
        "how": "modelled", "why": None,
        "caches": {"name": "zen2", "emulator": "QEMU-7.2.22-TCG", "line_bytes": 64,
                   "llc_kind": "victim", "write_allocate": True, "l1d": level, "l2": level,
                   "llc": level},
        "ends": [{"end": end, "context": context, **counts}
                 for end in ("sender", "receiver", "other")
                 for context in ("user", "kernel", "softirq")],
        "sites": [{"site": "rx_copy", "end": "receiver", "context": "kernel", "copied_bytes": 4096,
                   "calls": 1, **counts}]}
    return data
