# SPDX-License-Identifier: GPL-2.0
"""A copy map shows each byte where it was copied, as wide as it was measured."""
from __future__ import annotations

import pytest
from matplotlib.patches import Polygon

from copyscope.figures import draw_bars
from copyscope.pictures import arrows as copymap, copymap as draw_map, groups
from copyscope.pictures.arrows import BUFFER, DEVICE, RECEIVER, SENDER, STAGING, USER
from copyscope.records import copies
from helpers import pictures
from helpers.pictures import as_records, drawn_texts, faults_of_text, made, site, words


def chart_of(*documents):
    """The map of these records."""
    return copymap.build(as_records(list(documents)))


def arrows(chart):
    """What is drawn: (name, from, to, by a CPU): bytes per payload byte."""
    return {(each.name, each.start, each.end, each.by_cpu): each.amount.value
            for each in chart.arrows}


def drawn(*documents):
    """The figure, checked for its text."""
    group, = groups.split(as_records(list(documents)))
    figure = draw_map.draw(group, group.records[0].label, group.records)
    assert not faults_of_text(figure)
    assert not struck_out(figure)
    return figure


def struck_out(figure):
    """Texts that an arrow runs through, but for the letters that arrows carry."""
    renderer = figure.canvas.get_renderer()
    shapes = [patch.get_path().transformed(patch.get_transform()) for axes in figure.axes
              for patch in axes.patches if isinstance(patch, Polygon)]
    return [text.get_text() for text in drawn_texts(figure) if len(text.get_text()) > 1
            and any(shape.intersects_bbox(text.get_window_extent(renderer)) for shape in shapes)]


def test_lanes_beside_each_other_keep_clear_of_each_others_words():
    data = made("A3-guest")
    for name in ("tx_copy", "tx_reference", "tx_splice"):
        site(data, name, 0.4)
    assert "tx_splice" in words(drawn(data))


def cause(name, share, payload, where="late_copy"):
    """A cause as records have it."""
    return {"cause": name, "site": where, "bytes": round(share * payload), "calls": 1,
            "remedy": "do better", "stack": None, "why": None}


def test_a1_goes_through_the_staging_buffer():
    assert arrows(chart_of(made("A1-host"))) == pytest.approx({
        ("user_gather", USER, STAGING, True): 1, ("tx_copy", STAGING, SENDER, True): 1,
        ("pointer", SENDER, DEVICE, False): 1, ("pointer", DEVICE, RECEIVER, False): 1,
        ("rx_copy", RECEIVER, BUFFER, True): 1})


def test_a2_passes_the_staging_buffer_by():
    found = arrows(chart_of(made("A2-host")))
    assert found[("tx_copy", USER, SENDER, True)] == pytest.approx(1)
    assert not any(STAGING in key[1:3] for key in found)


def test_a3_on_one_machine_is_copied_on_arrival():
    for base in ("A3-host", "A3-guest"):
        found = arrows(chart_of(made(base)))
        assert found[("tx_reference", USER, SENDER, False)] == pytest.approx(1)
        assert found[("pointer", SENDER, DEVICE, False)] == pytest.approx(1)
        # At least: a retransmitted byte is copied twice.
        assert found[("late_copy", DEVICE, RECEIVER, True)] >= 1
    assert "cause: local delivery" in words(drawn(made("A3-guest")))


def test_causes_are_drawn_where_they_act_and_as_wide_as_they_are():
    data = made("A3-guest")
    payload = data["experiment"]["workload"]["received_bytes"]
    site(data, "late_copy", 0.75)
    data["causes"] = [cause("packet tap", 0.5, payload), cause("local delivery", 0.25, payload)]
    found = arrows(chart_of(data))
    assert found[("late_copy", SENDER, DEVICE, True)] == pytest.approx(0.5, abs=1e-5)
    assert found[("pointer", SENDER, DEVICE, False)] == pytest.approx(0.5, abs=1e-5)
    assert found[("late_copy", DEVICE, RECEIVER, True)] == pytest.approx(0.25, abs=1e-5)
    assert "packet tap" in words(drawn(data))


def test_arrows_are_as_wide_as_their_bytes():
    one, half = (copymap.Arrow("", 0, 1, copies.Amount(share, ""), True) for share in (1.0, 0.5))
    assert draw_map.thickness(one, 0.4) == pytest.approx(2 * draw_map.thickness(half, 0.4))


def test_much_copying_still_fits():
    data = made("A3-guest")
    payload = data["experiment"]["workload"]["received_bytes"]
    for name in ("user_gather", "tx_copy", "tx_reference", "tx_splice", "rx_copy", "rx_map",
                 "rx_splice", "rx_discard", "reshape"):
        site(data, name, 3.0)
    site(data, "late_copy", 5.0)
    for each in data["sockets"]:
        each["sites"]["reshape"]["bytes"] = payload
    data["causes"] = [cause(name, 1.0, payload) for name in (
        "packet tap", "segmentation", "tun", "local delivery", "clone or expand")]
    data["causes"].append(cause("SO_ZEROCOPY not set", 1.0, payload, "tx_copy"))
    assert "at the receiver" in words(drawn(data))


def test_a_path_that_leaves_the_machine_has_no_late_copy():
    data = made("A3-guest", path__kind="nic", path__hardware_dma=True)
    site(data, "late_copy", 0.0)
    data["causes"] = []
    found = arrows(chart_of(data))
    assert found[("DMA", SENDER, DEVICE, False)] == pytest.approx(1)
    assert not any(key[0] == "late_copy" for key in found)
    assert "a CPU copied 1.00 bytes" in words(drawn(data))


def test_sites_not_measured_are_named_and_never_zero():
    data = made("A3-host")
    for name in data["sites"]:
        site(data, name, None)
    chart = chart_of(data)
    assert all(value is None for value in arrows(chart).values())
    text = words(drawn(data))
    assert "copies were not measured" in text and "not measured: nothing looked" in text


def test_a_total_with_a_blind_spot_says_at_least():
    assert "a CPU copied at least 2.0" in words(drawn(made("A3-host")))
    assert "a CPU copied 2.00" in words(drawn(made("A3-guest")))


def test_the_bars_add_up_to_the_sum_of_the_sites():
    group, = groups.split(as_records([made("A1-host"), made("A3-host", 1)]))
    axes = draw_bars.copy_bars(group).axes[0]
    sums = {label: copies.amounts(mine) for label, mine in draw_bars.by_label(group).items()}
    for x, each in enumerate(sums.values()):
        tops = [bar.get_y() + bar.get_height() for bar in axes.patches
                if round(bar.get_x() + bar.get_width() / 2) == x]
        assert max(tops) == pytest.approx(copies.copied(each)[0])


def test_pins_per_message_are_those_of_the_record():
    data = made("A3-guest")
    group, = groups.split(as_records([data]))
    bars = draw_bars.pin_bars(group).axes[0].patches
    assert [bar.get_height() for bar in bars] == [
        pytest.approx(data["pins"]["pages"] / data["experiment"]["workload"]["messages"])]


def test_runs_with_several_records_are_summed():
    first, second = made("A1-host"), made("A1-host", 1)
    site(second, "tx_copy", 0.5)
    assert copies.amount(as_records([first, second]), "tx_copy").value == pytest.approx(0.75)


def test_helpers_leave_the_real_records_alone():
    before = str(pictures.REAL)
    site(made(), "tx_copy", 7.0)
    assert str(pictures.REAL) == before
