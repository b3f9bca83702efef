# SPDX-License-Identifier: GPL-2.0
"""How often threads that share a socket sleep until another one gives its lock back."""
from __future__ import annotations

from contextlib import closing

from .fact import OURS, Fact, run, unknown
from .of_calls import role_of
from .of_locks import Symbols
from .tracepoints import COUNT_ALONE, Hit, Tracepoint, reach_tracefs

# A socket's lock is owned, and who finds it owned sleeps: no spinlock is waited for then, so that
# lock/contention_begin does not see it.
SWITCH, SECONDS = "sched/sched_switch", 2.0
SLEEPS = 2      # TASK_UNINTERRUPTIBLE: given the processor away, not taken off it
LOCK = ("__lock_sock", "lock_sock_nested")
# Name of the fact, the call, and what is run with each number of threads.
SHARED = (("shared-send-waits", "tcp_sendmsg", "A2 65536 1 --path lo --senders {}", (1, 8)),
          ("shared-receive-waits", "tcp_recvmsg", "A2 65536 1 --path lo --readers {}",
           (1, 2, 4, 8)))
MEANS = {"shared-send-waits": "sleeps in sends until another thread gives the socket's lock back",
         "shared-receive-waits": "sleeps in receives until another thread gives the socket's lock "
                                 "back"}


def waited(hit: Hit, call: str, symbols: Symbols) -> bool:
    """Tell a sleep for a socket's lock within a call from any other switch."""
    names = [symbols.name(each) for each in hit.stack]
    return bool(hit.fields["prev_state"] & SLEEPS) and \
        any(name in LOCK for name in names) and any(name.startswith(call) for name in names)


def counted(name: str, call: str, words: str, threads: int, symbols: Symbols) -> Fact:
    """One run, and how often its threads waited for each other."""
    of, how = str(threads), f"{SWITCH} while trace_run {words} ran without probes"
    waits = 0
    # Others may run the workload, too.
    roles: dict[int, bytes] = {}
    asleep = f"{OURS} && prev_state & {SLEEPS}"
    with closing(Tracepoint(SWITCH, OURS, COUNT_ALONE)) as switches, \
            closing(Tracepoint(SWITCH, asleep, stack=True)) as sleeps:
        def look() -> None:
            nonlocal waits
            hits = sleeps.read()
            for pid in {each.pid for each in hits}:
                roles[pid] = roles.get(pid) or role_of(pid)
            waits += sum(waited(each, call, symbols) for each in hits if roles[each.pid])

        with switches, sleeps:
            record = run(words, SECONDS, look)
        look()
        seen, lost = switches.count, sleeps.lost
    if lost or not seen:
        return unknown([(name, of, MEANS[name])], how, f"{lost} sleeps found no room in the ring"
                       if lost else "no switch of the workload was seen")[0]
    messages = record["experiment"]["workload"]["messages"]
    return Fact(name, of, waits, MEANS[name], f"{how}: {messages} messages, {seen} switches")


def facts(_progress: object = None) -> list[Fact]:
    """Waits of senders and of readers, by how many share the socket."""
    symbols = Symbols.load()
    if not symbols.known:
        return unknown([(name, str(each), MEANS[name]) for name, _, _, counts in SHARED
                        for each in counts], SWITCH,
                       "the kernel hides its addresses: kernel.kptr_restrict")
    reach_tracefs()
    return [counted(name, call, words.format(threads), threads, symbols)
            for name, call, words, counts in SHARED for threads in counts]
