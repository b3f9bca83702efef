# SPDX-License-Identifier: GPL-2.0
"""The table of what probes cost, for people: one part for each kind of measurement."""
from __future__ import annotations

from . import instructions


def met(fine: bool) -> str:
    """The word for a target."""
    return "met" if fine else "missed"


def reached(middle: float, high: float, target: float) -> str:
    """The word for a target of a ratio, which is missed if the whole interval lies below it."""
    return "undecided" if middle < target <= high else met(middle >= target)


def start_lines(part: dict) -> list[str]:
    """From the start of the tool to the first counted byte."""
    return [f"start to first counted byte, {part['runs']} runs: median {part['median']} ms, "
            f"{part['low']} to {part['high']} ms",
            f"  target: under {part['target']} ms, {met(part['median'] < part['target'])}"]


def looking_lines(part: dict) -> list[str]:
    """Throughput with probes over without."""
    lines = ["throughput with probes / without, on this machine: median of the pairs and its 95 % interval",
             f"{'variant':8} {'bytes':>7} {'pairs':>5} {'ratio':>6} {'interval':>15} {'target':>6} "
             f"{'':9} {'Gbit/s bare':>12}"]
    for case in part["rows"]:
        ratio = case["throughput_ratio"]
        lines.append(
            f"{case['variant']:8} {case['bytes']:7} {case['pairs']:5} {ratio['median']:6.3f} "
            f"{ratio['low']:6.3f} to {ratio['high']:5.3f} {case['target']:6.2f} "
            f"{reached(ratio['median'], ratio['high'], case['target']):9} "
            f"{case['gbps_without_probes']['median']:12.3f}")
    return [*lines, "Ratios, not rates, are to be compared: the rates are those of this machine on that day."]


def iperf3_lines(part: dict) -> list[str]:
    """The workload over iperf3."""
    head = part["rows"][0]
    lines = [f"workload / iperf3, no probes, A1-plain, lo, {head['bytes']} bytes, {head['pairs']} pairs of "
             f"{head['seconds']} s: median and its 95 % interval",
             f"{'connections':>11} {'throughput':>10} {'interval':>15} {'target':>6} {'':9} "
             f"{'CPU a message':>13} {'interval':>15}"]
    for row in part["rows"]:
        gbps, used = row["throughput_ratio"], row["cpu_ratio"]
        lines.append(
            f"{row['connections']:11} {gbps['middle']:10.3f} {gbps['low']:6.3f} to {gbps['high']:5.3f} "
            f"{1:6.2f} {reached(gbps['middle'], gbps['high'], 1):9} {used['middle']:13.3f} {used['low']:6.3f} to "
            f"{used['high']:5.3f}")
    return lines


def instruction_lines(part: dict) -> list[str]:
    """What each kind of probe adds to a message, in instructions."""
    return ["instructions of a message on lo, one connection, in guests: base without probes, and what "
            "each kind adds", *instructions.text_of(part["rows"])]


PARTS = {"start": start_lines, "looking": looking_lines, "iperf3": iperf3_lines,
         "instructions": instruction_lines}


def text_of(result: dict) -> str:
    """All parts, each with what its reader needs to make it again."""
    lines = []
    for name, lines_of in PARTS.items():
        if name in result:
            lines += [f"{key:20} {value}" for key, value in result[name]["provenance"].items()]
            lines += ["", *lines_of(result[name]), ""]
    return "\n".join(lines)
