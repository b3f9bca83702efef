# SPDX-License-Identifier: GPL-2.0
"""Queues that refuse packets, loss, reordering, links that fall, MTUs that change, strangers."""
from __future__ import annotations

import os
import signal
import subprocess
import time

from attacks import judge, runs, started
from attacks.attack import Attack, Broken, Case, Skipped
from helpers import processes, records
from helpers.names import KERNELS

WORKLOAD = records.ROOT / "build" / "workload"
NETEM = ["loss 5%", "delay 5ms reorder 25% 50%", "delay 20ms limit 10", "loss 5% delay 2ms 1ms",
         "rate 20mbit limit 20", "loss 5% delay 5ms reorder 10% 25% limit 50", "delay 10ms 9ms"]
VARIANTS = ["A1", "A1-plain", "A1-8send", "A2", "A3", "A3-aligned", "A3-unreaped", "A3-unset"]
# Each is a list of commands for a device, with the seconds to wait before each.
HARDSHIPS = {
    "tbf": [(0.1, "tc qdisc replace dev {} root tbf rate 80mbit burst 70k limit 90k")],
    "pfifo": [(0.1, "tc qdisc replace dev {} root pfifo limit 2")],
    "tbf, then none": [(0.05, "tc qdisc replace dev {} root tbf rate 200mbit burst 70k limit 80k"),
                       (0.3, "tc qdisc del dev {} root")],
    "mtu": [(0.1, "ip link set dev {} mtu 1280"), (0.2, "ip link set dev {} mtu 9000"),
            (0.2, "ip link set dev {} mtu 1500")],
    "flap": [(0.2, "ip link set dev {} down"), (0.1, "ip link set dev {} up")],
}


def inside(pid: int, command: str) -> subprocess.CompletedProcess:
    """A command in the network namespace of a process."""
    return subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "--", *command.split()],
                          capture_output=True, text=True, check=False, timeout=20)


def devices(pid: int, path: str) -> list[str]:
    """The devices that the run's packets leave by, in that namespace."""
    said = inside(pid, "ip -o link").stdout
    names = [line.split(": ")[1].split("@")[0] for line in said.splitlines()]
    return ["lo"] if path == "lo" else [name for name in names if name.startswith(("v", "t", "r"))
                                        and not name.startswith("tunl")]


def begin(case: Case, *words) -> tuple[subprocess.Popen, dict[str, int]]:
    """A run whose two ends are at work."""
    process = started.start([runs.TRACE_RUN, *words, "--quiet", "--json",
                             case.place / "record.json"], case.place)
    try:
        ends = wait_running(process)
        if ends:
            return process, ends
        done, record = end(case, process)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if done.status not in judge.WELL or record is None:
        raise Broken(f"the run failed before its ends were seen at work: {done}")
    raise Skipped("the run was over, and held, before its ends were seen at work")


def wait_running(process: subprocess.Popen) -> dict[str, int]:
    """Pids of the two ends, wherever below the command they are; none if the run ended first."""
    def found():
        ends = {}
        for pid in processes.descendants(process.pid):
            words = processes.command_line(pid)
            if len(words) > 1 and words[1] in ("server", "client"):
                ends[words[1]] = pid
        busy = [pid for pid in ends.values() if os.path.exists(f"/proc/{pid}/task")
                and len(os.listdir(f"/proc/{pid}/task")) > 1]
        return ends if len(busy) == 2 else process.poll() is not None and {"ended": 0}
    ends = processes.wait_until(found, runs.bound_s(20))
    return {} if "ended" in ends else ends


def end(case: Case, process: subprocess.Popen) -> tuple[started.Done, dict | None]:
    """Wait for the run; its status and record, which agree."""
    done = started.finish(process, case.place, runs.bound_s(40))
    judge.ended_soundly(done)
    record = runs.read(case.place / "record.json", done)
    runs.agree(done, record)
    return done, record


def try_queue(case: Case) -> None:
    """One hardship in mid-run, on one device or both."""
    dice = case.dice
    name, path = dice.choice(sorted(HARDSHIPS)), dice.choice(["lo", "veth"])
    end_of = dice.choice([["server"], ["client"], ["server", "client"]])
    words = [dice.choice(VARIANTS), dice.choice([64, 4093, 65536, 1 << 20]), dice.choice([1, 2, 4]),
             "--path", path, "--seconds", 1, "--pass", "counted",
             "--pattern", dice.choice(["stream", "stream", "rr"])]
    process, ends = begin(case, *words)
    try:
        for wait_s, command in HARDSHIPS[name]:
            time.sleep(wait_s)
            for each in end_of:
                for device in devices(ends[each], path):
                    inside(ends[each], command.format(device))
        done, record = end(case, process)
    finally:
        process.kill()
        process.wait()
    if done.status not in judge.WELL or record is None or runs.outcome(record) not in (runs.COMPLETE, runs.BLIND):
        outcome = record and record["experiment"]["outcome"]
        raise Broken(f"{name} at {end_of}: {outcome}, "
                     f"broken {record and sorted(records.laws_with(record, 'broken'))}: {done}")
    runs.skip_if_retried(record)


def try_netem(case: Case) -> None:
    """Loss, reordering, delay and short queues in a guest of any kernel."""
    dice = case.dice
    words = [dice.choice(VARIANTS), dice.choice([4093, 65536]), dice.choice([1, 2]), "--path",
             dice.choice(["lo", "veth", "nic", "forward"]), "--messages", dice.choice([40, 150]),
             "--netem", dice.choice(NETEM), "--kernel", dice.choice(KERNELS)]
    done, record = runs.run(case, *words, timeout_s=240)
    if done.status == judge.REFUSED:
        raise Skipped(done.err.decode(errors="replace")[:300])
    if done.status not in judge.WELL or record is None or runs.outcome(record) not in (runs.COMPLETE, runs.BLIND):
        raise Broken(f"{record and record['experiment']['outcome']}, "
                     f"broken {record and sorted(records.laws_with(record, 'broken'))}: {done}")


def try_stranger(case: Case) -> None:
    """Others at full speed in the run's own namespace add not one byte to its books."""
    dice = case.dice
    process, ends = begin(case, dice.choice(VARIANTS), dice.choice([4093, 65536]), 2, "--path",
                          "lo", "--seconds", 1, "--pass", "counted")
    others = []
    try:
        enter = ["nsenter", f"--net=/proc/{ends['client']}/ns/net", "--", WORKLOAD]
        common = ["--port", dice.choice([7777, 9009, 9001]), "--json"]
        for words in (["server", dice.choice(VARIANTS), 65536, "--seconds", 20, "--clients", 1],
                      ["client", 65536, 1]):
            others.append(subprocess.Popen(
                [str(word) for word in (*enter, *words, *common)], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, preexec_fn=started.before_exec()))
        done, record = end(case, process)
    finally:
        for each in (process, *others):
            each.kill()
            each.wait()
    if done.status not in judge.WELL or record is None:
        raise Broken(f"{record and record['experiment']['outcome']}: {done}")
    work = record["experiment"]["workload"]
    if len(record["sockets"]) != 4 or records.site(record, "rx_copy") not in \
            (None, work["received_bytes"]):
        raise Broken(f"rx_copy {records.site(record, 'rx_copy')} of {work['received_bytes']}, "
                     f"{len(record['sockets'])} sockets: {done}")


def try_lost_link(case: Case) -> None:
    """The link of a run vanishes and the run is ended; then another has hardly any memory to pin."""
    dice, number = case.dice, case.dice.choice([signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
    variant = dice.choice([each for each in VARIANTS if each.startswith("A3")])
    process, ends = begin(case, variant, dice.choice([65536, 1 << 20]), dice.choice([1, 2, 4]), "--path",
                          "veth", "--seconds", 30, "--pass", "counted")
    try:
        time.sleep(dice.uniform(0, 0.3))
        of = ends[dice.choice(["server", "client"])]
        inside(of, f"ip link del {devices(of, 'veth')[0]}")
        time.sleep(dice.uniform(0, 0.5))
        process.send_signal(number)
        started.finish(process, case.place, runs.bound_s(10))
    finally:
        process.kill()
        process.wait()
    # Sockets that were closed in order are given a second; those of whoever was killed, none.
    time.sleep(2 if number != signal.SIGKILL else 0)
    done, record = runs.run(case, "A3", 65536, 1, "--path", "lo", "--pattern", "rr", "--messages", 20,
                            "--memlock", "160k", "--pass", "counted")
    if done.status not in judge.WELL or record is None or record["counts"]["enobufs"]:
        raise Broken(f"after a lost link and {signal.Signals(number).name}: {done}")


ATTACKS = [
    Attack("queues", "All laws balance though queues refuse packets (tbf, pfifo), links fall and rise "
           "and MTUs change in mid-run, on lo and veth.", "runs", 300, 6, try_queue, batch=10),
    Attack("netem", "All laws balance with 5 % of the packets lost, reordered, delayed or refused by a "
           "short queue, on lo, veth, nic and forward, in guests of four kernels.", "runs", 40, 0,
           try_netem, batch=4),
    Attack("lost-links", "A run whose link vanishes leaves nothing pinned, however it is ended: the next run "
           "pins what it needs.", "runs", 100, 3, try_lost_link, batch=5, jobs=1),
    Attack("strangers", "What others send in the namespace of a run adds not one byte to its books.",
           "runs", 100, 2, try_stranger, batch=10),
]
