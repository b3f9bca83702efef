# SPDX-License-Identifier: GPL-2.0
"""Finds the processes of a run, and keeps a run from what it must not do."""
from __future__ import annotations

import ctypes
import grp
import os
import platform
import pwd
import signal
import struct
from contextlib import suppress
from pathlib import Path

from helpers.patience import Patience

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG = 38, 22, 36, 1
SYSCALLS = {"x86_64": {"bpf": 321, "unshare": 272, "setns": 308, "socket": 41, "execve": 59,
                       "connect": 42, "perf_event_open": 298, "io_uring_setup": 425},
            "aarch64": {"bpf": 280, "unshare": 97, "setns": 268, "socket": 198, "execve": 221,
                        "connect": 203, "perf_event_open": 241, "io_uring_setup": 425}}


def wait_until(happens, timeout_s: float = 10):
    """Returns what happens() says once that is true; an error if it never is."""
    patience = Patience(timeout_s)
    while not (said := happens()):
        assert patience.sleep(0.005), f"waited {timeout_s} s in vain"
    return said


def stat_of(pid: int) -> list[str]:
    """State, parent and more, as the kernel says of a process."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()


def parent_of(pid: int) -> int:
    """Pid of its parent; 0 if it is gone."""
    try:
        return int(stat_of(pid)[1])
    except OSError:
        return 0


def state_of(pid: int) -> str:
    """R, S, T and so on."""
    return stat_of(pid)[0]


def has_ended(pid: int) -> bool:
    """Whether it is gone, or a zombie."""
    try:
        return state_of(pid) in "ZX"
    except OSError:
        return True


def children(pid: int) -> list[int]:
    """Pids of the processes that a process started or inherited; none if it is gone."""
    found = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    except OSError:
        pass
    return found


def descendants(pid: int) -> set[int]:
    """Pids of every process below one."""
    found, due = set(), [pid]
    while due:
        new = set(children(due.pop())) - found
        found |= new
        due += new
    return found


def stop_below(pid: int) -> set[int]:
    """Stop every process below one, those that start while it looks, too; returns whom to let go on."""
    stopped: set[int] = set()
    while new := descendants(pid) - stopped:
        for each in new:
            # Helpers of a run, as ip(8), live for a moment.
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)
        stopped |= new
    return stopped


def command_line(pid: int) -> list[str]:
    """The words a process was started with; none if it is gone or a zombie."""
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")[:-1]
    except OSError:
        return []


def threads(pid: int) -> list[str]:
    """Numbers of a process's threads; none if it is gone."""
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def started_by_tries(trace_run: int) -> list[int]:
    """Pids of what a run started: each try of it is a process of its own, which starts the rest. The
    timed pass is one of these, and starts its ends itself."""
    return sorted(descendants(trace_run) - set(children(trace_run)))


def confined_user() -> int:
    """Who our processes are once they have given up root's power, as confine.c chooses it."""
    with suppress(KeyError):
        ours = pwd.getpwnam("copyscope").pw_uid
        if 0 < ours < 1000:
            return ours
    taken = {each.pw_uid for each in pwd.getpwall()} | {each.gr_gid for each in grp.getgrall()}
    return next(uid for uid in range(61184, 65520) if uid not in taken)


def as_system_user(uid: int, folder: Path) -> list[str]:
    """A command to start another by: for that one the system has the user, in mounts that nobody else sees."""
    users = folder / "passwd"
    users.write_text(Path("/etc/passwd").read_text(encoding="utf-8") +
                     f"copyscope:x:{uid}:{uid}::/nonexistent:/usr/sbin/nologin\n", encoding="utf-8")
    return ["unshare", "--mount", "sh", "-c",
            'mount --bind "$1" /etc/passwd && shift && exec "$@"', "sh", str(users)]


def comm(pid: int) -> str:
    """What a process calls itself; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def named(trace_run: int, name: str) -> list[int]:
    """Pids of what a run started that calls itself so."""
    return [pid for pid in started_by_tries(trace_run) if comm(pid) == name]


def workload_pids(trace_run: int, counted: bool = False) -> dict[str, int]:
    """Pids of a run's two ends by "server" and "client"; fewer while it is still arranging. With
    `counted` only those that a try itself started: not those of a timed pass before it."""
    found = {}
    by_tries = [pid for one_try in children(trace_run) for pid in children(one_try)]
    for pid in by_tries if counted else started_by_tries(trace_run):
        words = command_line(pid)
        if len(words) > 1 and words[1] in ("server", "client"):
            found[words[1]] = pid
    return found


class EndedEarly(AssertionError):
    """A run ended before both of its ends sent."""


def wait_running(trace_run: int, timeout_s: float = 10, counted: bool = False) -> dict[str, int]:
    """Waits until both ends of a run have threads that send: the gate is open by then. Of two passes
    it is the timed one, unless `counted`."""
    def both_have_threads():
        if has_ended(trace_run):
            raise EndedEarly(f"run {trace_run} ended before both of its ends sent")
        pids = workload_pids(trace_run, counted)
        busy = [pid for pid in pids.values() if len(threads(pid)) > 1]
        return pids if len(busy) == 2 else None

    return wait_until(both_have_threads, timeout_s)


def become_subreaper(on: bool) -> None:
    """Orphans of our children become our children, so that none can slip away."""
    assert LIBC.prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0


def die_with_parent() -> None:
    """Whoever calls it is killed when the process that started it ends, however that ends."""
    assert LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) == 0


def reap_orphans(known: set[int]) -> list[list[str]]:
    """Collects dead children of ours that nobody else knows; returns those still alive."""
    alive = []
    for pid in set(children(os.getpid())) - known:
        try:
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                alive.append([str(pid), *command_line(pid)])
        except ChildProcessError:
            pass
    return alive


def forbid(*names: str, error: int = 0):
    """Returns a preexec_fn: the process and its children die of SIGSYS at these system calls, or
    are given that errno."""
    numbers = [SYSCALLS[platform.machine()][name] for name in names]
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    allow, kill_process, give_errno = 0x7fff0000, 0x80000000, 0x00050000
    program = [(load, 0, 0, 0)]
    for left, number in zip(range(len(numbers), 0, -1), numbers):
        program.append((jump_if_equal, left, 0, number))
    program += [(give, 0, 0, allow), (give, 0, 0, give_errno | error if error else kill_process)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    filter_ = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))

    def install():
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if LIBC.prctl(PR_SET_SECCOMP, 2, filter_, 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")

    install.keeps = (code, filter_)
    return install
