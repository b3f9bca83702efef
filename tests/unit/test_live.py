# SPDX-License-Identifier: GPL-2.0
"""A live view: its rows, filter, marked row and what that is made of, how rates went, its keys."""
from __future__ import annotations

import pytest

from copyscope.report import live
from copyscope.report.chosen import Chosen, keys_of
from copyscope.report.spark import MINUTES, History
from helpers import watches
from helpers.watches import interval

ROW = interval()["rows"][0]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Names fit beside their numbers, and bars can be shown."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def shown(paused: bool = False, keys: str = "", **more: object) -> live.Page:
    """A live view of an interval, half a minute after an hour, once these keys were typed."""
    page = live.Page("--comm nginx")
    told = interval(**{"seconds": 3630.5, "order": "copied", "total": {**ROW, "sockets": 1234}, **more})
    page.take({"interval": told, "paused": paused})
    for key in keys_of(keys):
        page.chosen.takes(key, page.names())
    return page


def lines(height: int = 24, **more: object) -> list[str]:
    """Its lines."""
    return shown(**more).lines(height, 120)


def named(*names: str) -> list[dict]:
    """Rows of these names."""
    return [{**ROW, "name": name} for name in names]


def test_a_live_view_has_a_head_rows_and_its_keys():
    said = lines()
    assert said[:5] == ["copyscope watch  01:00:30  by copied  1,234 sockets  --comm nginx",
                        "sent 18.0 MB/s, received 0 B/s, copied >=18.0 MB/s, avoidable -/s", "", "",
                        "   sent/s    recv/s  copied/s  avoid./s   sockets no copy/s  processes"]
    assert said[5].endswith("  nginx, pid 812") and said[6:] == ["", live.KEYS]
    assert "by copied  paused  " in lines(paused=True)[0]
    assert lines(sums_short="one was lost")[3] == "Sums may be short: one was lost"
    assert "no TCP or UDP socket yet" in "\n".join(lines(rows=[]))


def test_lines_that_do_not_depend_on_the_watch_fit_80_columns():
    assert max(map(len, [live.KEYS, live.TURN + live.KEYS_OF_ROW, live.KEYS_OF_FILTER, *live.HELP])) <= 80
    assert set(live.HELP) <= set(lines(keys="?")) and live.HELP[0] not in lines(keys="??")


@pytest.mark.parametrize("name, height, fits", [("n", 24, 16), ("n" * 200, 24, 5), ("n", 3, 1)])
def test_a_live_view_shows_as_many_rows_as_fit(name, height, fits):
    said = lines(height, rows=named(name) * 40, further=960)
    assert sum("18.0 MB" in line for line in said) == fits + 1 or fits == 1
    assert said[-3].endswith(f"  {1000 - fits} more") or fits == 1
    assert len(said) <= height or fits == 1


def test_a_filter_shows_the_rows_that_have_its_text_and_says_of_how_many():
    rows = named("web.service", "db.service", "Webmail")
    said = lines(rows=rows, keys="/wex\x7fb\r", further=4)
    assert [line.split()[-1] for line in said if "18.0 MB " in line] == ["web.service", "Webmail"]
    assert "  filter: web  " in said[0] and said[-3].endswith("2 of 3 have that name; 4 were not looked at")
    assert lines(rows=rows, keys="/web")[-1].startswith("/web_ ")
    # Letters of a filter are no keys of the watch; Escape gives all rows back.
    page = shown(rows=rows, keys="/qs")
    assert page.chosen.filter == "qs" and page.names() == []
    assert len(shown(rows=rows, keys="/qs\x1b").names()) == 3 and len(shown(rows=rows, keys="/qs\r\x1b").names()) == 3


def test_a_marked_row_is_seen_without_colours_and_scrolled_to():
    rows = named(*(f"row-{number:02}" for number in range(40)))
    down = "\x1b[B"
    said = lines(rows=rows, keys=down * 3 + "\x1b[A")
    marked, = (line for line in said if line.startswith(live.MARK))
    assert marked.endswith("row-01") and marked.tint == live.MARKED
    for keys, name in ((down * 31, "row-30"), ("\x1bOF", "row-39"), ("\x1b[F\x1b[H", "row-00"), ("k", "row-39")):
        marked, = (line for line in lines(rows=rows, keys=keys) if line.startswith(live.MARK))
        assert marked.endswith(name)
    assert [line.tint for line in lines(rows=[{**ROW, "needless_bytes": 5}]) if "nginx, pid" in line] == [live.AVOIDABLE]


def test_the_watch_gets_the_keys_that_are_not_the_readers():
    chosen = Chosen()
    assert [key for key in "c/q\x1bjq ?" if not chosen.takes(key, ["a"])] == ["c", "q", " "]


def made_of(*parts: dict, sockets: list[dict], **more: object) -> str:
    """What the first row is made of."""
    return "\n".join(lines(100, rows=list(parts), keys="\r", sockets=sockets, sockets_further=0, **more))


def socket(remote: str, sent: int, **more: object) -> dict:
    """A socket of nginx in an interval."""
    figures = {key: value for key, value in ROW.items() if key not in ("name", "sockets")}
    return {**figures, "pid": 812, "comm": "nginx", "uid": 0, "cgroup": None, "local": "10.0.0.9:80", "remote": remote,
            "sent_bytes": sent, "copied_bytes": sent, "copied_least_bytes": sent, **more}


def test_what_a_row_is_made_of_is_turned_where_a_screen_is_too_low():
    more = {"rows": [{**ROW, **watches.moved(9, 0, tx_copy=9), "causes": []}], "sockets_further": 0,
            "sockets": [socket(f"10.0.0.1:{port}", port) for port in range(1, 6)]}
    whole = lines(100, keys="\r", **more)
    assert whole[-1] == live.KEYS_OF_ROW
    # A turn after the last page is the first one again, and another row begins with it.
    pages = [lines(14, keys="\r" * turns, **more) for turns in range(1, 9)]
    assert all(each[-1] == live.TURN + live.KEYS_OF_ROW and len(each) <= 14 for each in pages)
    number = next(at for at in range(1, 8) if pages[at] == pages[0])
    assert [line for each in pages[:number] for line in each[6:-2]] == whole[6:-2]
    assert lines(14, keys="\r\rj", **more) == pages[0]


def test_a_row_is_made_of_sites_causes_processes_peers_sockets_and_sizes():
    part = {**ROW, **watches.moved(9_000_000, 0, tx_reference=9_000_000, late_copy=8_000_000), "causes": [
        {"cause": "local delivery", "site": "late_copy", "bytes": 8_000_000, "calls": None, "remedy": "move it", "stack": None}]}
    sizes = [{"direction": "send", "way": "plain", "buckets": [
        {"from_bytes": 4096, "below_bytes": 8192, "calls": 3, "bytes": 15_000}]}]
    owner = {"pid": 812, "comm": "nginx", "uid": 0, "cgroup": None}
    said = made_of(part, sockets=[
        socket("10.0.0.1:4000", 5_000_000), socket("10.0.0.1:4001", 3_000_000), socket("[fe80::1]:9", 1_000_000),
        socket("10.9.9.9:9", 7_000_000, pid=99)], sizes=[{**owner, "sizes": sizes}, {**owner, "pid": 99, "sizes": sizes}])
    # Half a second: all is twice as much in a second.
    assert "\nlate_copy        16.0 MB    88.9 %  " in said and "local delivery               late_copy      16.0 MB" in said
    assert "\n  16.0 MB       0 B   16.0 MB         -         2       0 B  10.0.0.1\n" in said and "  fe80::1\n" in said
    assert "10.0.0.9:80 - 10.0.0.1:4000, nginx, pid 812" in said and "pid 99" not in said
    assert "plain sends: 3, 15.0 kB\n    4 KiB to below 8 KiB" in said
    assert "10.0.0.9:80 - " in made_of({**part, "name": "fe80::1"}, by="peer", sockets=[socket("[fe80::1]:9", 1)])


def test_what_no_open_socket_moved_is_told_as_of_those_that_closed():
    part = {**ROW, **watches.moved(9_000_000, 0, tx_copy=9_000_000), "causes": [], "sent_bytes": 9_000_000, "received_bytes": 0}
    # Half a second: all is twice as much in a second.
    for sockets, said in (([socket("10.0.0.1:4000", 5_000_000)], "8.00 MB more in each second"), ([], "18.0 MB in each second")):
        assert f"\n{said}, sent and received, was of sockets that closed or changed hands" in made_of(part, sockets=sockets)
    assert "closed or changed" not in made_of(part, sockets=[socket("10.0.0.1:4000", 9_000_000)])


def test_a_high_screen_has_more_of_each_part():
    part = {**ROW, **watches.moved(9, 0, tx_copy=9), "causes": []}
    sockets = [socket(f"10.0.0.1:{number}", 9) for number in range(4000, 4018)]
    page = {"rows": [part], "keys": "\r", "sockets": sockets, "sockets_further": 0}
    low, high = ("\n".join(lines(height, **page)) for height in (30, 100))
    assert "\n  13 more\n" in low and "\n  2 more" in high and high.count("10.0.0.9:80 - ") == 16


def test_rows_of_one_service_have_one_sum_of_sites():
    part = {**{key: value for key, value in ROW.items() if key != "name"}, "pid": 812, "comm": "nginx", "uid": 0,
            "cgroup": "/system.slice/web.service", **watches.moved(1_000_000, 0, tx_copy=1_000_000), "causes": []}
    said = made_of(part, {**part, "uid": 33}, by="service", sockets=[])
    assert "web.service, in each second" in said and "\ntx_copy          4.00 MB     100 %  " in said


def test_bars_are_of_the_last_minutes_and_a_row_that_was_not_told_has_none():
    history = History()
    for second in range(1, 2 * MINUTES * 60):
        history.note("service", second, {"a": second, **({"b": 5} if second == 590 else {})})
    assert history.span_s() == MINUTES * 60 and history.most("a") == 599
    assert len(history.line("a", 20)) <= 20 and history.line("a", 20)[-1] == "▆"
    assert history.line("b", 301).count("▆") == 1 and history.line("b", 301).count(" ") == 300
    history.note("service", 599, {"a": 10**9})
    assert history.most("a") == 599
    history.note("process", 600, {"p": 0})
    assert history.line("a", 20) == "" and history.line("p", 20) == "▁"


def test_bars_are_plain_where_the_locale_has_no_others(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    page = shown()
    page.take({"interval": interval(seconds=3631.5, order="copied", total=ROW), "paused": False})
    assert page.lines(24, 120)[2] == "copied ##  at most 18.0 MB/s in the last 1.00 s"
