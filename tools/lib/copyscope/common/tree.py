# SPDX-License-Identifier: GPL-2.0
"""Where this tree, or the installed copy of it, has its parts, and what its commands are called."""
from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
BUILD = ROOT / "build"
DOCS = ROOT / "docs"
PROFILES = ROOT / "studies" / "profiles"
CACHES = ROOT / "studies" / "caches"
GUEST = ROOT / "tools" / "guest"
# The words that start a watch which prints: build/watch alone counts.
WATCH = (ROOT / "tools" / "copyscope", "watch")
# tools/install_tree leaves the set-up behind.
INSTALLED = not (ROOT / "tools" / "setup").exists()


def cache() -> Path:
    """Where what was fetched, or can be made again, is kept. Nothing is written beside the programs
    of an installed copy: whoever removes it would leave that behind."""
    named = os.environ.get("COPYSCOPE_CACHE")
    if named:
        return Path(os.path.abspath(named))
    if not INSTALLED:
        return BUILD
    if os.geteuid() == 0:
        return Path("/var/cache/copyscope")
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "copyscope"


CACHE = cache()


# What a command is called where it is: tools/sweep in the tree, copyscope sweep once installed.

OWN_NAMES = {"copyscope": "copyscope", "trace_run": "trace_run", "records list": "copyscope list",
             "records show": "copyscope show", "records": "copyscope"} | {
                 name: f"lib/copyscope/tools/{name}"
                 for name in ("advise_truth", "beside_iperf3", "beside_lmbench", "facts",
                              "published")}
WORDS = ("advise", "baseline", "claims", "compare", "crossover", "fleet", "guest", "matrix",
         "peers", "plot", "predict", "sweep")
NAMES = OWN_NAMES | {word: f"copyscope {word}" for word in WORDS}
# Not in a path that goes on, nor in a name that does.
COMMAND = re.compile(rf"(?<![\w/])(?:\./)?tools/({'|'.join(NAMES)})(?![\w/-]|\.\w)")
FOLDER = re.compile(r"(?<![\w/])(studies/(?:caches|claims|profiles))(?!\w)")
RUNS = re.compile(r"(?<![\w/])results/runs/?(?![\w/])")
# As the launcher of an installed copy has it: of root, and of anybody else.
RUNS_FOLDERS = "/var/lib/copyscope/runs or ~/.local/state/copyscope/runs"


def installed(text: str) -> str:
    """A text with the names that an installed copy has for commands and folders of the tree."""
    text = COMMAND.sub(lambda found: NAMES[found[1]], text)
    return RUNS.sub(RUNS_FOLDERS, FOLDER.sub(r"lib/copyscope/\1", text))


def called(text: str) -> str:
    """A text that names commands of the tree, as it is true of this copy."""
    return installed(text) if INSTALLED else text
