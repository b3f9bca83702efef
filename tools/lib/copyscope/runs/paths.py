# SPDX-License-Identifier: GPL-2.0
"""The path of a command's runs: its options, as trace_run has them, and where its ends are."""
from __future__ import annotations

import argparse
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tables import PATHS, PATHS_OF_NICS, PATHS_OF_ONE_HOST

from .launch import HOST

# What trace_run is told of the two ends beside the kind; a profile may have some of them.
HELP = {
    "addresses": ("TX,RX/BITS", "addresses of both ends, as trace_run has them"),
    "devices": ("TX,RX", "of path nic and forward: two idle NICs that a cable joins"),
    "host": ("[USER@]HOST", "of path peer: the other host, as ssh knows it"),
    "ssh": ("COMMAND", "of path peer: what reaches the host (ssh)"),
    "far": ("COMMAND", "of path peer: what a shell starts there as trace_run of the same build "
                       "(sudo -n trace_run)"),
}
WORDS = tuple(HELP)
# Those that a shell splits, and what files have in place of their values.
OF_A_SHELL, HIDDEN = ("ssh", "far"), "(not kept)"


def add_options(parser: argparse.ArgumentParser, default: str, more: str = "") -> None:
    """--path, with more to say of it, and what belongs to it."""
    parser.add_argument("--path", choices=PATHS,
                        help=f"what lies between the sockets ({default}){more}")
    add_words(parser)


def add_words(parser: argparse.ArgumentParser, **otherwise: str) -> None:
    """What belongs to a path; `otherwise` is what some of it means to a command."""
    for word, (metavar, meaning) in HELP.items():
        parser.add_argument(f"--{word}", metavar=metavar, help=otherwise.get(word, meaning))


def two_hosts(path: str) -> bool:
    """Whether the other end is on another host."""
    return path not in PATHS_OF_ONE_HOST


def taken_in_here(path: str) -> bool:
    """Whether this machine's own kernel hands each packet from one socket to the other."""
    return not two_hosts(path) and path not in PATHS_OF_NICS


def settings_of(options: argparse.Namespace, path: str, kernel: str = HOST) -> dict[str, Any]:
    """The words that are given, by their names. Refuses what trace_run would, before it runs."""
    given = {word: getattr(options, word) for word in WORDS if getattr(options, word) is not None}
    if two_hosts(path):
        if "host" not in given:
            raise Unusable(f"--path {path} needs the other host: --host [USER@]HOST")
        if kernel != HOST:
            raise Unusable(f"--path {path} is between two hosts: leave out --kernel {kernel}")
        return given
    for word in ("host", "ssh", "far"):
        if word in given:
            raise Unusable(f"--{word} is of path peer alone: add --path peer")
    return given


def runnable(options: argparse.Namespace, path: str) -> dict[str, Any]:
    """settings_of(), for what is run on this kernel alone: two NICs must be named."""
    given = settings_of(options, path)
    if path in PATHS_OF_NICS and "devices" not in given:
        raise Unusable(f"--path {path} needs --devices TX,RX: two idle NICs that a cable joins; "
                       "those of guests tell no times")
    return given


def refuse_beside(options: argparse.Namespace, whose: str) -> None:
    """Refuse words for what a profile or something else says."""
    for word in ("path", *WORDS):
        if getattr(options, word) is not None:
            raise Unusable(f"--{word} {getattr(options, word)}: {whose} says that; leave it out")


def words_of(settings: dict[str, Any]) -> list[str]:
    """The same for trace_run, and the port that a profile may have."""
    return [each for key in (*WORDS, "port") if key in settings
            for each in (f"--{key}", str(settings[key]))]


def hidden(words: list[str]) -> list[str]:
    """Words of a command as a file may keep them that all may read: what reaches the other host, as
    a shell has it, may hold a password. userspace/report does the same; options may be shortened,
    to two letters."""
    kept: list[str] = []
    hide = False
    for word in words:
        option, equals, _ = word.partition("=")
        is_shell = not hide and len(option) > 3 and any(f"--{each}".startswith(option)
                                                        for each in OF_A_SHELL)
        kept.append(HIDDEN if hide else f"{option}={HIDDEN}" if is_shell and equals else word)
        hide = is_shell and not equals
    return kept


def without_shells(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan as a file keeps it: how the other host is reached makes no other plan."""
    settings = {key: HIDDEN if key in OF_A_SHELL else each
                for key, each in plan["settings"].items()}
    points = [{**each, "arguments": hidden(each["arguments"])} for each in plan["points"]]
    return {**plan, "settings": settings, "points": points}


def told(path: str, kernel: str) -> str:
    """Where an answer holds, in words: which kernel takes the packets in decides of pages."""
    ends = "both ends are on this machine, so its own kernel takes each packet in" \
        if taken_in_here(path) else "the other end is on another host" if two_hosts(path) else \
        "both ends are on this machine, behind two NICs"
    return f"Path {path}, Linux {kernel}; {ends}."
