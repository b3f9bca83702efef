# SPDX-License-Identifier: GPL-2.0
"""What is compared: our row, lmbench's program, and where they differ, the same made alike."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import parse

Read = Callable[[str], float]


@dataclass(frozen=True)
class Program:
    """One call of an lmbench program. A word {mib}, {bytes} or {file} is filled in."""

    words: tuple[str, ...]
    server: bool = False        # started with -s before and stopped with -S after
    pinned: bool = False        # all its processes on our rows' one CPU
    huge: bool = False          # its malloc asks for huge pages, as our rows do
    preloaded: bool = False     # with the libraries of our program, so that as much is copied


@dataclass(frozen=True)
class Side:
    """One comparison: the sum of rows of ours against a number that a program printed."""

    rows: tuple[str, ...]
    program: Program
    read: Read
    factor: float               # from lmbench's unit to the row's


@dataclass(frozen=True)
class Pair:
    """What is compared as it stands and, if that may differ for a cause, with the cause removed."""

    name: str
    unit: str
    plain: Side
    alike: Side | None = None
    cause: str = ""


US, NS, MB_TO_GB, MB_TO_MBIT = 1.0, 1e3, 1e-3, 8.0
ON_ONE_CPU = "ours keeps both ends on one CPU; lmbench's may wake another, here pinned too"
IN_HUGE_PAGES = "ours is in huge pages, lmbench's in small ones; here malloc asks for huge ones too"
BY_PAGES = ("ours goes through the lines at random; lmbench's to another page each time, to one "
            "line of each, then to the next of each, as our row latency-l2-paged")

LATENCY = ("lat_mem_rd", "-N", "1", "-t", "{mib}", "64")
CONTEXT = ("lat_ctx", "-N", "5", "-s", "0", "2")
NULL = Program(("lat_syscall", "-N", "5", "null"))
FORK = ("lat_proc", "-N", "5", "fork")
FAULT = Program(("lat_pagefault", "-N", "5", "{file}"))
REREAD = Program(("bw_file_rd", "-N", "5", "{bytes}", "io_only", "{file}"))
TRIP = ("lat_tcp", "-N", "3", "127.0.0.1")
CONNECT = Program(("lat_connect", "-N", "3", "127.0.0.1"), server=True)
STREAM = ("bw_tcp", "-N", "3", "127.0.0.1")


def in_us(program: Program, *rows: str, factor: float = US) -> Side:
    """Times that a program printed in microseconds."""
    return Side(rows, program, parse.microseconds, factor)


def latency(name: str, row: str, alike: str = "", cause: str = IN_HUGE_PAGES) -> Pair:
    """Latency of a working set: runs.py looks up the row's in the table that is printed."""
    def side(mine: str, huge: bool) -> Side:
        return Side((mine,), Program(LATENCY, huge=huge), parse.microseconds, US)
    return Pair(name, "ns", side(row, False), side(alike or row, not alike), cause)


def bandwidth(name: str, row: str, kind: str) -> Pair:
    """Bandwidth of memory that no cache holds."""
    def side(huge: bool) -> Side:
        return Side((row,), Program(("bw_mem", "-N", "5", "{mib}m", kind), huge=huge), parse.rate,
                    MB_TO_GB)
    return Pair(name, "GB/s", side(False), side(True), IN_HUGE_PAGES)


PAIRS = (
    Pair("null system call", "ns", in_us(NULL, "syscall", factor=NS),
         in_us(NULL, "syscall-getppid", factor=NS),
         "ours is getuid, lmbench's getppid, which looks up another task, as our row "
         "syscall-getppid"),
    Pair("fork", "us", in_us(Program(FORK), "process"),
         in_us(Program(FORK, preloaded=True), "process-ended"),
         "ours ends when fork() returns, of a process with more libraries; lmbench's when the "
         "child has ended and been waited for, as our row process-ended; here with our libraries"),
    Pair("context switch (pipe)", "us",
         Side(("switch-process",), Program(CONTEXT), parse.switch, US),
         Side(("switch-process",), Program(CONTEXT, pinned=True), parse.switch_with_pipe, US),
         "ours is on one CPU and counts the pipe's read and write, lmbench's neither; here it is "
         "pinned, and what it subtracts for the pipe is added again"),
    latency("latency, L1", "latency-l1"),
    latency("latency, L2", "latency-l2", "latency-l2-paged", BY_PAGES),
    latency("latency, L3", "latency-l3"), latency("latency, memory", "latency-memory"),
    bandwidth("memory read", "memory-read", "rd"), bandwidth("memory write", "memory-write", "wr"),
    bandwidth("memory copy", "memory-copy", "bcopy"),
    Pair("TCP round trip", "us", in_us(Program(TRIP, server=True), "tcp-rtt"),
         in_us(Program(TRIP, server=True, pinned=True), "tcp-rtt"), ON_ONE_CPU),
    Pair("TCP bandwidth", "Mbit/s",
         Side(("tcp-stream",), Program(STREAM, server=True), parse.rate, MB_TO_MBIT),
         Side(("tcp-stream",), Program(STREAM, server=True, pinned=True), parse.rate, MB_TO_MBIT),
         "lmbench's two ends are where the scheduler puts them and wait for each other to wake; "
         "here both are on one CPU"),
    Pair("TCP connect", "us", in_us(CONNECT, "connect"), in_us(CONNECT, "connect", "close"),
         "ours is connect() alone; lmbench's makes the socket and closes it too: with our row "
         "close"),
    Pair("page fault", "us", in_us(FAULT, "fault-minor"), in_us(FAULT, "fault-cached-unmapped"),
         "ours is of anonymous memory, a page cleared for each; lmbench's of a mapped file in the "
         "page cache, where a fault maps its neighbours too, and of unmapping it, as our row "
         "fault-cached-unmapped"),
    Pair("file reread", "GB/s", Side(("read-again",), REREAD, parse.rate, MB_TO_GB),
         Side(("read-again-summed",), REREAD, parse.rate, MB_TO_GB),
         "ours reads alone; lmbench's adds up what it read, as our row read-again-summed"),
)
