# SPDX-License-Identifier: GPL-2.0
"""Starts the Python behind a command: lets Ctrl-C through again, then runs the module's main().

The commands in tools/ import this file; tools/baseline, a shell script, runs it with the name of a
module. Whoever starts Python blocks SIGINT: Python prints a traceback for one that comes before our
first line. -S puts off what else Python does before that line; -B keeps it from writing bytecode.
"""
# Built in: no other import may come before SIGINT is unblocked.
import _signal


def unblock_ctrl_c() -> None:
    """Let a Ctrl-C end this process, until the command catches it; nohup may have it ignored."""
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})


def run(module: str = "", straight: str = "") -> None:
    """Run main() of a module with the words of the command line, and exit; without a
    module the first word names it. That of `straight` comes before what else Python
    does first, and returns if it has no answer."""
    unblock_ctrl_c()
    import importlib
    import os
    import sys

    # As -B does, if the interpreter was started without it.
    sys.dont_write_bytecode = True
    place = os.path.dirname(os.path.realpath(__file__))
    # What serves the studies imports what every command shares, never the other way round.
    studies = os.path.join(os.path.dirname(os.path.dirname(place)), "studies", "lib")
    sys.path[:0] = [each for each in (place, studies) if each not in sys.path]
    words = sys.argv[1:]
    if straight:
        importlib.import_module(straight).main(words)
    import site

    site.main()
    sys.exit(importlib.import_module(module or words.pop(0)).main(words))


if __name__ == "__main__":
    run()
