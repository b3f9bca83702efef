# SPDX-License-Identifier: GPL-2.0
"""A Prometheus of the tests' own: bound to loopback, its data in a folder of the test, history made for it."""
from __future__ import annotations

import contextlib
import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers import foreign
from helpers.processes import wait_until

RULES = Path(__file__).resolve().parents[2] / "packaging" / "prometheus" / "copyscope.rules.yml"


def escaped(value: str) -> str:
    """A label's value as the exposition format has it."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def series(name: str, **labels: str) -> str:
    """A series as it is written."""
    inside = ",".join(f'{label}="{escaped(value)}"' for label, value in labels.items())
    return f"{name}{{{inside}}}" if inside else name


def backfill(place: Path, samples: Iterable[tuple[str, int, float]]) -> None:
    """Make a Prometheus' data of samples (series, time, value), which name counters with _total and gauges."""
    families: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for each, when, value in samples:
        families.setdefault(each.partition("{")[0], {}).setdefault(each, []).append((when, value))
    lines = []
    for name, many in families.items():
        counter = name.endswith("_total")
        lines.append(f"# TYPE {name.removesuffix('_total')} {'counter' if counter else 'gauge'}")
        lines += [f"{each} {value!r} {when}" for each, steps in many.items() for when, value in steps]
    file = place.with_suffix(".txt")
    file.write_text("\n".join([*lines, "# EOF", ""]), encoding="utf-8")
    done = subprocess.run([*foreign.words("promtool"), "tsdb", "create-blocks-from", "openmetrics", file, place],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    file.unlink()


def is_ready(port: int) -> bool:
    """Whether a Prometheus has read its data."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=60):
            return True
    except urllib.error.HTTPError:
        return False


@contextlib.contextmanager
def prometheus(place: Path, scrapes: list[dict] | None = None, rules: bool = False,
               interval: str = "15s") -> Iterator[str]:
    """One with its data at `place`; its address."""
    port = foreign.free_port()
    config = place.with_suffix(".yml")
    # JSON is YAML.
    config.write_text(json.dumps({
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": [str(RULES)] if rules else [], "scrape_configs": scrapes or []}), encoding="utf-8")
    with foreign.serving(port, *foreign.words("prometheus"), f"--config.file={config}",
                         f"--storage.tsdb.path={place}", f"--web.listen-address=127.0.0.1:{port}",
                         "--storage.tsdb.retention.time=10y", "--log.level=error"):
        # It listens before it answers.
        wait_until(lambda: is_ready(port), 60)
        yield f"http://127.0.0.1:{port}"


def result(url: str, expression: str, **more: object) -> list[dict]:
    """What is answered, series by series."""
    form = urllib.parse.urlencode({"query": expression, **more}).encode()
    with urllib.request.urlopen(f"{url}/api/v1/query", form, timeout=60) as answer:
        return json.load(answer)["data"]["result"]


def ask(url: str, expression: str, **more: object) -> dict[tuple[tuple[str, str], ...], float]:
    """Each series of an answer, by its labels."""
    return {tuple(sorted(each["metric"].items())): float(each["value"][1]) for each in result(url, expression, **more)}


def readings(url: str, expression: str) -> list[tuple[dict[str, str], list[tuple[float, float]]]]:
    """Labels of each series of a range, and its samples: time and value."""
    return [(each["metric"], [(when, float(text)) for when, text in each["values"]]) for each in result(url, expression)]


def value(url: str, expression: str) -> float | None:
    """The only value of an expression, if it has any."""
    found = ask(url, expression)
    assert len(found) < 2, found
    return next(iter(found.values()), None)


def samples_of(text: str) -> dict[str, float]:
    """Each sample of a file of metrics."""
    return {each[1]: float(each[2]) for each in re.finditer(r"^([a-z][^#\n]*?\}?) ([^\s{}]+)$", text, re.MULTILINE)}
