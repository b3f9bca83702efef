# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/published: a session with a report's programs, a watch beside it."""
from __future__ import annotations

import os

from copyscope import cli
from copyscope.cli import Parser
from copyscope.common.errors import Refused, Unusable
from copyscope.common.tree import BUILD, WATCH

from . import programs, session


def typed(report: programs.Report) -> str:
    """How its programs are typed; N is 1, 2 or 3."""
    rows = ((report.server, report.server_words), (report.client, report.client_words))
    return "\n".join(" ".join((f"{name:8}", pattern.replace(programs.NUMBER, "N"), *words))
                     for name, (pattern, words) in zip((report.name, ""), rows))


ROWS = "\n".join(map(typed, programs.REPORTS))
EPILOG = f"""\
The programs of a report and, where it has some, its named namespaces. The
commands run side by side, and the first is ended when the others have ended;
without any a shell begins. Then a watch says what became of the payload at
both ends. Nothing is left.

{ROWS}

exit: as the commands, then as watch; 2 bad usage; 3 this machine refuses
example: sudo ./tools/published MT25023 \\
           "ip netns exec ns_server ./server_A1 9000 4096 2" \\
           "ip netns exec ns_client ./client_A1 10.0.0.1 9000 5 4096\""""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/published", EPILOG)
    add = parser.add_argument
    add("report", metavar="REPORT", help=" ".join(programs.NAMES))
    add("commands", nargs="*", metavar="COMMAND", help="as the report types it, in quotes")
    add("--no-books", action="store_true", help="no watch: no probe is loaded")
    add("--json", metavar="FILE", help="write the watch's record there")
    return parser


def act(words: list[str]) -> int:
    """Become the watch of a session, or the session."""
    options = build_parser().parse_intermixed_args(words)
    if options.report not in programs.NAMES:
        raise Unusable(f"there is no report {options.report!r}: choose {' '.join(programs.NAMES)}")
    if options.json and options.no_books:
        raise Unusable("--json and --no-books exclude each other")
    if not (BUILD / "workload").exists():
        raise Refused("build/workload is not there: run make first")
    if os.geteuid() != 0:
        raise Refused("namespaces need root: type sudo ./tools/published ...")
    inner = session.started(session.OWN_MODULE, options.report, *options.commands)
    if options.no_books:
        os.execv(inner[0], inner)
    kept = ["--json", options.json] if options.json else []
    os.execv(WATCH[0], [*map(str, WATCH), "--as-root", *kept, "--", *inner])
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, "published")
