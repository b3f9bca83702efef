# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/guest: read it, check it, and turn every failure into one line."""
from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
from collections.abc import Iterable
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, folder, memory, whole
from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.common.needs import provide
from copyscope.records import caches

from . import architectures, kernels, libraries, machine, output
from .architectures import Architecture
from .streams import NAME, Teller

# Packages that a guest needs and this machine lacks are named before anything is fetched.

# Program: its package. What unpacks a kernel belongs to Debian itself.
IMAGE = {"busybox": "busybox-static", "ldd": "libc-bin"}
# Libraries of another architecture are found by what readelf says of a program.
FOREIGN = {"readelf": "binutils"}
# Programs that --with may name.
EXTRAS = {"bpftrace": "bpftrace", "ssh": "openssh-client", "dropbear": "dropbear-bin",
          "dropbearkey": "dropbear-bin", "systemd": "systemd"}


def missing(arch: Architecture, extras: Iterable[str]) -> list[str]:
    """The packages whose programs are not on this machine."""
    wanted = {arch.program: arch.package, **IMAGE, **({} if arch.native else FOREIGN),
              **{name: EXTRAS[name] for name in extras}}
    lacking = [package for program, package in wanted.items() if not programs.find(program)]
    return list(dict.fromkeys(lacking))


def check(arch: Architecture, extras: Iterable[str]) -> None:
    """Refuse to begin without them, in one line for all."""
    lacking = missing(arch, extras)
    if lacking:
        provide(lacking)
        lacking = missing(arch, extras)
    if lacking:
        raise Refused(f"what guests need is missing: apt-get install {' '.join(lacking)}")


EPILOG = """\
COMMAND runs as root in /copyscope, where the project's programs, tools/ and tests/ are.
Its stdout, stderr and exit status become those of tools/guest. The files that it leaves in /out
go to --out. Processes that it leaves running are killed. It gets COPYSCOPE_* and TERM from us.
The first SIGINT, SIGTERM or SIGHUP goes to COMMAND and what runs in its process group; 15 s later,
at a second one, or before COMMAND begins, the guest is stopped.
exit: COMMAND's own; 1 the guest's kernel failed, 2 bad usage, 3 this machine cannot, 124 timeout,
  128 + N stopped after signal N
example: ./tools/guest --kernel 6.1 -- uname -r"""
MOST_CPUS, MOST_NICS, MOST_PORT = 64, 8, 65535
# Each end has an L1d and an L2 of its own, as on a machine that is not full; but 6.1 hangs early in
# its boot with two processors whose clock counts instructions.
MODEL_CPUS = {"6.12": 2, "7.2": 2}
ARCHITECTURES = architectures.ARCHITECTURES



def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/guest", EPILOG,
                    usage="%(prog)s --kernel RELEASE [options] -- COMMAND...")
    add = parser.add_argument
    add("--kernel", metavar="RELEASE", help="one of --list or a full release, fetched "
        "if not here; or the path of a kernel image")
    add("--modules", type=Path, metavar="DIR", help="modules of the image that --kernel names "
        "(found beside it or in /lib/modules)")
    add("--arch", choices=ARCHITECTURES, help="processor; arm64 has counters (this machine's own)")
    add("--cpus", type=whole(1, MOST_CPUS), help="processors (2; arm64: 1)")
    add("--memory", type=memory, default="1G", help="such as 512M or 2G (1G)")
    add("--timeout", type=whole(1, 10**6), default=600, help="seconds, boot included (600)")
    add("--nics", type=whole(0, MOST_NICS), default=0, help="NICs, joined by one hub (0)")
    add("--net", type=whole(3, 1 << 20), metavar="FD",
        help="a NIC joined to another guest by this inherited datagram socket; see tools/peers")
    add("--forward", dest="forwards", action="append", default=[], type=ports, metavar="PORT:PORT",
        help="127.0.0.1:PORT of this machine leads to the guest's other PORT")
    add("--out", type=folder, metavar="DIR", help="where the files of the guest's /out go")
    add("--record", metavar="FILE", help="where the guest's /out/record.json goes; see "
        "tools/trace_run --kernel")
    add("--record-fd", type=whole(3, 1 << 20), metavar="FD",
        help="the same by an inherited descriptor; see tools/peers")
    add("--with", dest="extras", action="append", default=[], choices=EXTRAS,
        help="take a program along that few guests need (bpftrace wants at least 1G; systemd "
        "becomes the first process)")
    add("--add", dest="added", action="append", default=[], metavar="PATH",
        help="take a file or folder along, at the same path")
    add("--plugin", metavar="FILE[,NAME=VALUE...]", default="",
        help="give QEMU a plugin: it sees each instruction of the guest")
    add("--line", metavar="WORDS", default="", help="words for the command line of its kernel")
    add("--icount", action="store_true",
        help="one processor, whose clock ticks once for each instruction (arm64: always)")
    add("--model", metavar="NAME", help="count what runs execute in modelled caches of NAME, a "
        "file of studies/caches or yours; see tools/trace_run --counters (implies --icount)")
    add("--no-snapshot", dest="snapshots", action="store_false", help="boot, although a snapshot "
        "of such a guest is there or could be kept")
    add("--tell", metavar="WHAT", help="say on stderr what is being done: fetching, booting, then "
        "running WHAT (on a terminal without this, too: COMMAND)")
    add("--list", action="store_true", help="list the releases that are here or can be fetched")
    add("--fetch", action="store_true", help="fetch RELEASE only, so that later runs work offline")
    return parser


def ports(text: str) -> tuple[int, int]:
    """Two ports, of this machine and of the guest."""
    here, _, there = text.partition(":")
    return whole(1, MOST_PORT)(here), whole(1, MOST_PORT)(there)


def is_free(port: int) -> bool:
    """Tell whether QEMU may listen there."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def list_kernels() -> int:
    """Print what is here and what can be fetched."""
    for prefix, groups in kernels.SUITES.items():
        here = [kernel.release for arch in ARCHITECTURES.values()
                for kernel in kernels.fetched(arch) if kernels.matches(kernel.release, prefix)]
        print(f"{prefix}\tcan be fetched from {', '.join(s for group in groups for s in group)}"
              f"\t{'here: ' + ', '.join(here) if here else 'not here'}")
    return 0


def split_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Part our own options from COMMAND at the first --, so that COMMAND is never interpreted."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:place], arguments[place + 1:]


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse and check what belongs together."""
    own, command = split_command(arguments)
    options = build_parser().parse_args(own)
    options.command = command
    if options.list:
        return options
    if options.kernel is None:
        raise Unusable("--kernel RELEASE is missing: --list names the releases")
    by_path = kernels.is_path(options.kernel)
    if options.modules and not by_path:
        raise Unusable("--modules goes with the path of an image: Debian's kernels bring their own")
    if by_path and options.fetch:
        raise Unusable(f"--fetch: {options.kernel} is a file and needs no fetching")
    if not by_path:
        kernels.prefix_of(options.kernel)
    options.arch = architectures.get(options.arch)
    options.model = None if options.model is None else caches.load(options.model)
    if options.model and options.plugin:
        raise Unusable("--model is a plugin, too: leave out --plugin")
    if options.icount or options.model:
        options.arch = architectures.counting(options.arch, model_cpus(options))
    if by_path and options.arch.name != "amd64":
        raise Unusable(f"--arch {options.arch.name}: an image given by its path must be for amd64")
    options.cpus = options.cpus or options.arch.cpus
    if options.cpus > options.arch.most_cpus:
        raise Unusable(f"--cpus {options.cpus}: an {options.arch.name} guest has at most "
                    f"{options.arch.most_cpus}")
    if options.plugin and not Path(options.plugin.split(",")[0]).is_file():
        raise Unusable(f"--plugin {options.plugin.split(',')[0]}: no such file")
    if not options.fetch and not options.command:
        raise Unusable("no COMMAND: put it after --, as in --kernel 6.1 -- uname -r")
    if options.net is not None and not is_datagram_socket(options.net):
        raise Unusable(f"--net {options.net}: not a datagram socket; "
                       "tools/peers makes a pair of them")
    for here, _ in options.forwards:
        if not is_free(here):
            raise Unusable(f"--forward: port {here} of this machine is in use, or not yours to use")
    if options.out and options.out.exists() and not options.out.is_dir():
        raise Unusable(f"--out {options.out}: not a folder")
    return options


def model_cpus(options: argparse.Namespace) -> int:
    """How many processors a guest has whose clock counts instructions: one, or more for a model."""
    if not options.model or kernels.is_path(options.kernel):
        return 1
    return MODEL_CPUS.get(kernels.prefix_of(options.kernel), 1)


def is_datagram_socket(descriptor: int) -> bool:
    """Tell whether we were started with such a socket."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            return copy.type == socket.SOCK_DGRAM
    except OSError:
        return False


def act(arguments: list[str], teller: Teller) -> int:
    """Do what the arguments ask for."""
    options = read_arguments(arguments)
    teller.steps = options.tell is not None or os.isatty(2)
    if options.list:
        return list_kernels()
    if not options.fetch:
        check(options.arch, options.extras)
    with contextlib.ExitStack() as held:
        if options.out and not options.fetch:
            output.look(options.out)
        take = output.record_sink(options.record, options.record_fd, held)
        kernel = (kernels.kernel_at(Path(options.kernel), options.modules)
                  if kernels.is_path(options.kernel)
                  else kernels.get(options.kernel, options.arch, teller.fetching))
        libraries.get_sysroot(options.arch, teller.fetching)
        if options.fetch:
            print(kernel.release)
            return 0
        return machine.run(job_of(options, kernel, take), teller)


def job_of(options: argparse.Namespace, kernel: kernels.Kernel,
           take: output.RecordSink | None) -> machine.Job:
    """What the arguments ask a guest to do."""
    return machine.Job(
        kernel=kernel, arch=options.arch, command=options.command, cpus=options.cpus,
        memory=options.memory, timeout=options.timeout, nics=options.nics, net=options.net,
        forwards=options.forwards, out=options.out, record=take, extras=options.extras,
        added=options.added, plugin=options.plugin, line=options.line, model=options.model,
        called=options.tell, snapshots=options.snapshots)


def main(arguments: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    cli.unwind_on_signals()
    cli.prepare()
    teller = Teller()
    try:
        return cli.flush_stdout(NAME, act(arguments, teller))
    except SystemExit as leaving:
        # Else it is 0, of --help.
        if isinstance(leaving.code, int) and leaving.code > 128:
            teller.stopped(leaving.code - 128)
        raise
    except CommandError as error:
        teller.complain(str(error))
        return error.status
    except BrokenPipeError:
        # Nobody reads us any more; a flush at exit would only complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except OSError as error:
        teller.complain(f"{error.filename or 'a file'}: {error.strerror}; "
                        "check its permissions and the room left")
        return 3
