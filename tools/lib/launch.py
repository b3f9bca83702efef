# SPDX-License-Identifier: GPL-2.0
"""Starts the Python behind a command: lets Ctrl-C through again, then runs the module's main().

The commands in tools/ import this file; tools/baseline, a shell script, runs it with the name of a
module. Whoever starts Python blocks SIGINT: Python prints a traceback for one that comes before our
first line. -S puts off what else Python does before that line; -B keeps it from writing bytecode.
"""
# Built in: no other import may come before SIGINT is unblocked.
import _signal

FLAGS = "-SB"
ENTERED = "COPYSCOPE_ENTERED"


def unblock_ctrl_c() -> None:
    """Let a Ctrl-C end this process, until the command catches it; nohup may have it ignored."""
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})


def enter_environment(place: str) -> None:
    """Start again in build/venv, which has the matplotlib that the figures were laid out with. An
    installed copy has no build/venv and uses the system's."""
    import os
    import sys

    venv = os.path.join(os.path.dirname(os.path.dirname(place)), "build", "venv")
    python, script = os.path.join(venv, "bin", "python"), os.path.realpath(sys.argv[0])
    # Once: where venv's Python does not name venv as its prefix, it would start itself for ever.
    if sys.prefix == venv or os.environ.get(ENTERED) == script or not os.access(python, os.X_OK):
        return
    os.environ[ENTERED] = script
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT})
    os.execv(python, [python, FLAGS, script, *sys.argv[1:]])


def hush_matplotlib() -> None:
    """Keep two lines off stderr: where matplotlib cannot keep its cache it takes another folder and
    says so; no figure is the worse for it."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def run(module: str = "", matplotlib: bool = False) -> None:
    """Run main() of a module of copyscope with the words of the command line, and exit; without a
    module the first word names it."""
    unblock_ctrl_c()
    import importlib
    import os
    import site
    import sys

    site.main()
    # As -B does, if the interpreter was started without it.
    sys.dont_write_bytecode = True
    place = os.path.dirname(os.path.realpath(__file__))
    if matplotlib:
        enter_environment(place)
        hush_matplotlib()
    if place not in sys.path:
        sys.path.insert(0, place)
    words = sys.argv[1:]
    sys.exit(importlib.import_module(module or words.pop(0)).main(words))


if __name__ == "__main__":
    run(matplotlib=True)
