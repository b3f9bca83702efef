# SPDX-License-Identifier: GPL-2.0
"""What a command is called where it is: tools/sweep in the tree, copyscope sweep once installed."""
from __future__ import annotations

import re

from .tree import INSTALLED

OWN_NAMES = {"copyscope": "copyscope", "trace_run": "trace_run", "records list": "copyscope list",
             "records show": "copyscope show", "records": "copyscope-records",
             "beside_iperf3": "copyscope-beside_iperf3",
             "facts": "copyscope-facts",
             "beside_lmbench": "copyscope-beside_lmbench"}
WORDS = ("baseline", "claims", "compare", "crossover", "guest", "matrix", "peers", "plot",
         "predict", "sweep")
NAMES = OWN_NAMES | {word: f"copyscope {word}" for word in WORDS}
# Not in a path that goes on, nor in a name that does.
COMMAND = re.compile(rf"(?<![\w/])(?:\./)?tools/({'|'.join(NAMES)})(?![\w/-]|\.\w)")
FOLDER = re.compile(r"(?<![\w/])tools/(caches|profiles)(?!\w)")
RUNS = re.compile(r"(?<![\w/])results/runs/?(?![\w/])")
# As the launcher of an installed copy has it: of root, and of anybody else.
RUNS_FOLDERS = "/var/lib/copyscope/runs or ~/.local/state/copyscope/runs"


def installed(text: str) -> str:
    """A text with the names that an installed copy has for commands and folders of the tree."""
    text = COMMAND.sub(lambda found: NAMES[found[1]], text)
    return RUNS.sub(RUNS_FOLDERS, FOLDER.sub(r"lib/copyscope/tools/\1", text))


def called(text: str) -> str:
    """A text that names commands of the tree, as it is true of this copy."""
    return installed(text) if INSTALLED else text
