# SPDX-License-Identifier: GPL-2.0
"""A watch: this process becomes it before anything else is imported, and a child of it prints."""
import _signal
import _socket
import os
import sys

# Options of a watch with which it is started by copyscope.metrics.
EXPORTS = ("--metrics", "--serve", "--state", "--services", "--rotate")
# Those with which it is on another host.
FAR = ("--host", "--hosts")
# Those with which its record becomes a file besides, and an example of the name.
FILES = {"--html": "page.html", "--folded": "stacks.folded", "--pprof": "stacks.pb.gz",
         "--csv": "rows.csv"}
# Those that only whoever prints obeys.
NO_KEEP = "--no-keep"
FLAGS, COLOR, COLORS = ("--laws", "--exact"), "--color", ("auto", "always", "never")
# So many records of watches stay; what names them so.
KEPT_MOST, KEPT = 100, "-watch.json"
# Those that name whom to watch by what copyscope.dispatch.whom finds out.
NAMES = ("--unit", "--container")
# What has an answer in place of a watch.
ANSWERS = ("-h", "-?", "--help", "-V", "--version")
# Those behind which no value stands as a word of its own.
VALUELESS = ("-q", "--quiet", *ANSWERS, "--all", "--as-root",
             "--detail", "--no-children", "--cpu", "--sizes", "--stacks", NO_KEEP, *FLAGS)
# A Ctrl-C is for the watch, which tells then what it found; with the others the terminal is given
# back first, or was another's before.
FOR_THE_WATCH = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT,
                 _signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)


def become(program: str, words: list[str]) -> None:
    """Become another program, as if it had been typed, or raise OSError."""
    # Python ignores these two, and what is ignored stays so in the next program.
    for each in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(each, _signal.SIG_DFL)
    os.execv(program, [program, *words])


def print_what_is_told(channel: int, out: int, looks: dict[str, str]) -> None:
    """In the child that prints: does not return."""
    status = 1
    try:
        for each in (*FOR_THE_WATCH, _signal.SIGPIPE):
            _signal.signal(each, _signal.SIG_IGN)
        # Not earlier: the watch starts meanwhile.
        from .printer import shown  # pylint: disable=import-outside-toplevel
        status = shown(channel, out, looks)
    except BaseException:  # pylint: disable=broad-exception-caught
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def read_by(words: list[str]) -> list[str]:
    """Fork the child that prints; the words of a watch that is read by it."""
    words, looks = without_looks(words)
    if is_kept(words):
        make_room()
    channel, told = _socket.socketpair()
    child = os.fork()
    if not child:
        told.close()
        # Of a command it is on stderr: stdout is the command's.
        print_what_is_told(channel.fileno(), 2 if "--" in words else 1, looks)
    channel.close()
    os.set_inheritable(told.fileno(), True)
    return ["--reader", f"{told.detach()},{child}", *with_names(words)]


def without_looks(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words of a watch but for those of how it is printed, and these. What --color is given
    wrong stays: the watch refuses it."""
    end = words.index("--") if "--" in words else len(words)
    rest, looks, at = [], {}, 0
    while at < end:
        option, given, value = words[at].partition("=")
        after = value if given else words[at + 1] if at + 1 < end else ""
        if words[at] in FLAGS:
            looks[words[at]] = "yes"
        elif option == COLOR and after in COLORS:
            looks[COLOR] = after
            at += not given
        else:
            rest.append(words[at])
        at += 1
    return [*rest, *words[end:]], looks


def is_kept(words: list[str]) -> bool:
    """Whether a watch leaves a record that nobody named a file for."""
    own = words[:words.index("--")] if "--" in words else words
    return not {word.partition("=")[0] for word in own} & {NO_KEEP, "--json", *ANSWERS}


def make_room() -> None:
    """Let the oldest records of watches go that nobody named a file for."""
    tree = os.path.realpath(__file__).rsplit("/", 5)[0]
    folder = os.environ.get("COPYSCOPE_RUNS") or f"{tree}/results/runs"
    try:
        kept = sorted(name for name in os.listdir(folder) if name.endswith(KEPT))
        for name in kept[:max(0, len(kept) - KEPT_MOST + 1)]:
            os.unlink(f"{folder}/{name}")
    except OSError:
        pass  # the watch itself says what is the matter with the folder


def with_names(words: list[str]) -> list[str]:
    """The words of a watch that knows what users and containers are called."""
    # pylint: disable-next=import-outside-toplevel
    from copyscope.services.here import names_here
    names = os.memfd_create("names", 0)
    os.write(names, names_here().encode())
    os.lseek(names, 0, os.SEEK_SET)
    return ["--names", str(names), *words]


def bare_words(words: list[str]) -> list[int]:
    """Places of words that are neither an option nor the value of one: names of whom to watch. A
    number is none, nor an address: the watch says what may have been meant."""
    found, value = [], False
    for at, word in enumerate(words):
        if not value and not word.startswith("-") and word.strip("0123456789") and \
                not set(word) & set(":/"):
            found.append(at)
        value = not value and word.startswith("-") and "=" not in word and \
            word not in VALUELESS and not (word[1] != "-" and len(word) > 2)
    return found


def is_plain(words: list[str]) -> bool:
    """Whether nothing else of Python is asked for, and all words can be written down."""
    try:
        " ".join(words).encode()
    except UnicodeEncodeError:
        return False
    own = words[1:words.index("--")] if "--" in words else words[1:]
    options = {word.partition("=")[0] for word in own}
    by_name = "--exclude" in " ".join(own) or options & {*NAMES} or bare_words(own)
    return words[:1] == ["watch"] and not options & {*EXPORTS, *FAR, *FILES} and not by_name


def main(words: list[str]) -> None:
    """Become the watch; return if another answer is due, or something is in the way of it."""
    tree = os.path.realpath(__file__).rsplit("/", 5)[0]
    program = f"{tree}/build/watch"
    if is_plain(words) and os.access(program, os.X_OK):
        become(program, read_by(words[1:]))
