# SPDX-License-Identifier: GPL-2.0
"""Run one job in QEMU: start it, carry its streams, and leave no process behind."""
from __future__ import annotations

import os
import re
import secrets
import selectors
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import BUILD, CACHE
from copyscope.files.cache import drop_oldest, lock
from copyscope.files.record_file import Unwritten
from copyscope.records.caches import Caches

from . import image, output
from .architectures import Architecture
from .kernels import Kernel
from .output import RecordSink
from .streams import (
    BootFailed,
    Channel,
    LineFilter,
    SignalForwarder,
    Teller,
    TimedOut,
    to_descriptor,
)

# The plugin that models caches, and a port of the guest by which it reports.

PLUGIN = BUILD / "counting.so"
# Where functions lie decides which sets of a cache they use: let it be the same in each boot.
KERNEL_LINE = " nokaslr"
# The guest's random numbers and its date, too.
SAME_EACH_TIME = ("-seed", "1", "-rtc", "base=2026-01-01,clock=vm")


def emulator(arch: Architecture) -> str:
    """Name and version of the emulator; refuse one that takes no plugins."""
    program = programs.find(arch.program)
    if not program:
        raise Refused(f"{arch.program} is missing: apt-get install {arch.package}")
    if not PLUGIN.exists():
        raise Refused("build/counting.so is not there: run make first")
    if "-plugin" not in programs.run([program, "-help"]).stdout:
        raise Refused(f"{arch.program} was built without plugins: --model needs a QEMU that has "
                      "them, as Debian's")
    said = re.search(r"version ([\w.]+)", programs.run([program, "-version"]).stdout)
    return f"QEMU-{said[1] if said else 'unknown'}-TCG"


class Model:
    """One guest's plugin: what QEMU and the guest are told of it."""

    def __init__(self, caches: Caches, arch: Architecture) -> None:
        self.caches, self.emulator = caches, emulator(arch)
        self.plugins, self.ports = socket.socketpair()

    def descriptors(self) -> list[int]:
        """Both ends of the connection from plugin to port, the caller's to close."""
        return [self.plugins.fileno(), self.ports.fileno()]

    def words(self, port: int) -> list[str]:
        """What QEMU's command line has besides."""
        plugin = ",".join([str(PLUGIN), *self.caches.plugin_words(),
                           f"report={self.plugins.detach()}"])
        return [*SAME_EACH_TIME, "-plugin", plugin,
                "-chardev", f"socket,id=model,fd={self.ports.detach()}",
                "-device", f"virtserialport,chardev=model,nr={port}"]

    def environment(self, port: int) -> dict[str, str]:
        """What the guest's programs are told."""
        return {"COPYSCOPE_MODEL": " ".join([f"/dev/vport0p{port}", self.caches.name, self.emulator,
                                             *self.caches.record_words()])}


LOGS = CACHE / "guest-logs"
KEEP_LOGS = 30
TROUBLE = re.compile(r"Kernel panic|WARNING: CPU|BUG: |Oops: |general protection fault")
STARTED = "copyscope: the command begins"
# A boot takes 2 to 4 s, and some more on a busy machine.
BOOT_S = 90
# How soon it is noticed that the command runs, while somebody is told so.
LOOK_S = 0.2
# Which address QEMU's own network gives the guest.
FORWARDED = "10.0.2.15"
# Letters of a command that are told.
MOST_TOLD = 60
BOOTS = 3
RECORD, RECORD_LINE = "record.json", b"record  "
# Bits of /proc/sys/kernel/tainted: the kernel died (oops), the kernel warned.
TAINT_DIED, TAINT_WARNED = 1 << 7, 1 << 9


@dataclass
class Job:
    """What to run, in how large a machine, and where what it writes goes."""

    kernel: Kernel
    arch: Architecture
    command: list[str]
    cpus: int = 2
    memory: str = "1G"
    timeout: float = 600
    nics: int = 0
    net: int | None = None  # descriptor of a datagram socket whose other end is another guest
    forwards: list[tuple[int, int]] = field(default_factory=list)  # ports, ours and the guest's
    out: Path | None = None
    record: RecordSink | None = None  # of /out/record.json
    extras: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    plugin: str = ""
    line: str = ""
    model: Caches | None = None
    called: str | None = None  # what is told of the command; None: its words


class Machine:
    """A running QEMU and the ports of its guest: stdout, stderr, /out, and one for signals."""

    def __init__(self, job: Job, teller: Teller) -> None:
        self.job, self.teller = job, teller
        self.mark = secrets.token_hex(16)
        self.log, self.log_lock = new_log(job.kernel.release)
        self.up = False
        # finish() reads it.
        self.out_tar = tempfile.TemporaryFile() if job.out or job.record else None
        save = self.out_tar.write if self.out_tar else lambda data: None
        mark = self.mark.encode()
        # The guest's own name of the record is none of this machine's.
        stdout, stderr = (teller.before(to_descriptor(number)) for number in (1, 2))
        self.said = LineFilter(RECORD_LINE, stdout) if job.record else None
        sinks = (self.said.feed if self.said else stdout, stderr, save)
        self.channels = [Channel(mark, sink) for sink in sinks]
        self.pipes = [os.pipe() for _ in self.channels]
        self.signals, self.guests_signals = socket.socketpair()
        self.model = Model(job.model, job.arch) if job.model else None
        self.qemu: subprocess.Popen | None = None

    def start(self) -> None:
        """Start QEMU; the kernel kills it should we die first."""
        self.teller.step(f"booting kernel {self.job.kernel.release} in QEMU")
        initrd = self._initrd()
        closing = [initrd, self.guests_signals.detach(), *(write for _, write in self.pipes)]
        closing += self.model.descriptors() if self.model else []
        inherited = closing + [self.job.net] * (self.job.net is not None)
        with open(self.log.with_suffix(".qemu"), "wb") as complaints:
            self.qemu = programs.start(
                self._command(initrd, closing[1]), stdin=subprocess.DEVNULL, stdout=complaints,
                stderr=complaints, pass_fds=inherited,
                # A terminal's Ctrl-C is for us alone: we pass it into the guest.
                preexec_fn=kill_with_parent(session=True))
        for descriptor in closing:
            os.close(descriptor)

    def _initrd(self) -> int:
        """Join the layers and the job in memory, so that no way to die leaves a file."""
        job = self.job
        environment = {name: value for name, value in os.environ.items()
                       if name == "TERM" or name.startswith("COPYSCOPE_")}
        # Places of this machine, of which the guest has its own.
        for name in ("COPYSCOPE_DEBIAN_MIRROR", "COPYSCOPE_RUNS", "COPYSCOPE_CACHE"):
            environment.pop(name, None)
        environment |= {"PATH": "/usr/sbin:/usr/bin", "HOME": "/root", "LC_ALL": "C",
                        "COPYSCOPE_GUEST": job.kernel.release,
                        "COPYSCOPE_EMULATION": job.arch.emulation}
        environment |= self.model.environment(self.model_port) if self.model else {}
        settings = {"MARK": self.mark, "STARTED": STARTED,
                    "SAVE_OUT": "yes" if self.out_tar else "no",
                    "NOW": str(int(time.time())), "FORWARDED": self.forwarded_nic(),
                    "MODULES": "vmxnet3 virtio_net" if self.has_nic() else ""}
        descriptor = os.memfd_create("initrd")
        with open(descriptor, "wb", closefd=False) as stream:
            for layer in image.archives(job.kernel, job.arch, job.extras, job.added):
                with open(layer, "rb") as source:
                    shutil.copyfileobj(source, stream, 1 << 20)
            image.write_job(stream, settings, environment, job.command)
        return descriptor

    def _command(self, initrd: int, signals: int) -> list[str]:
        """Compose QEMU's command line."""
        job, arch = self.job, self.job.arch
        program = programs.find(arch.program)
        if not program:
            raise Refused(f"{arch.program} is missing: apt-get install {arch.package}")
        command = [program, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                   *arch.options, "-smp", str(job.cpus), "-m", job.memory,
                   "-kernel", str(job.kernel.vmlinuz), "-initrd", f"/proc/self/fd/{initrd}",
                   "-append", f"{arch.line_of(job.kernel.release)}"
                   f"{KERNEL_LINE if self.model else ''} {job.line}",
                   "-serial", f"file:{self.log}", "-device", "virtio-serial-pci"]
        for number, (_, write) in enumerate(self.pipes, start=1):
            command += ["-chardev", f"file,id=port{number},path=/proc/self/fd/{write}",
                        "-device", f"virtserialport,chardev=port{number},nr={number}"]
        command += ["-chardev", f"socket,id=signals,fd={signals}",
                    "-device", f"virtserialport,chardev=signals,nr={len(self.pipes) + 1}"]
        if job.plugin:
            command += ["-plugin", job.plugin]
        if self.model:
            command += self.model.words(self.model_port)
        for number in range(job.nics):
            command += ["-netdev", f"hubport,id=nic{number},hubid=0",
                        "-device", f"vmxnet3,netdev=nic{number}"]
        if job.net is not None:
            # Two guests must not have one address.
            address = "52:54:" + ":".join(f"{byte:02x}" for byte in secrets.token_bytes(4))
            command += ["-netdev", f"dgram,id=net,local.type=fd,local.str={job.net}",
                        "-device", f"vmxnet3,netdev=net,mac={address}"]
        if job.forwards:
            # It answers nothing else: the guest has no way out.
            rules = "".join(f",hostfwd=tcp:127.0.0.1:{here}-{FORWARDED}:{there}"
                            for here, there in job.forwards)
            command += ["-netdev", f"user,id=forward,restrict=on{rules}",
                        "-device", "virtio-net-pci,netdev=forward"]
        return command if self.has_nic() else command + ["-nic", "none"]

    @property
    def model_port(self) -> int:
        """Number of the port by which the plugin reports: the next one."""
        return len(self.pipes) + 2

    def has_nic(self) -> bool:
        """Tell whether the guest has any network card."""
        return bool(self.job.nics or self.job.forwards) or self.job.net is not None

    def forwarded_nic(self) -> str:
        """Where forwarded ports arrive, the last of the guest's: name and address; or nothing."""
        nics = self.job.nics + (self.job.net is not None)
        return f"eth{nics} {FORWARDED}/24" if self.job.forwards else ""

    def carry(self) -> None:
        """Carry the streams until every port has ended, QEMU stops or time is up."""
        deadline = time.monotonic() + self.job.timeout
        boot_deadline = time.monotonic() + BOOT_S
        with (SignalForwarder(self.signals, self.started, self.teller.complain) as signals,
              selectors.DefaultSelector() as selector):
            for (read, _), channel in zip(self.pipes, self.channels):
                selector.register(read, selectors.EVENT_READ, channel)
            while selector.get_map() and not all(c.ended for c in self.channels):
                left = deadline - time.monotonic()
                signals.check_time_limit()
                if left <= 0:
                    raise TimedOut(f"the guest was stopped after {self.job.timeout:g} s "
                                   f"(log: {self.log})")
                if time.monotonic() > boot_deadline and not self.started():
                    raise BootFailed(f"the guest hung while it booted (log: {self.log})")
                for key, _ in selector.select(min(left, self.look())):
                    data = os.read(key.fd, 1 << 16)
                    if data:
                        key.data.feed(data)
                    else:
                        selector.unregister(key.fd)

    def look(self) -> float:
        """Tell how far the guest is; return after how many seconds to do so again."""
        teller = self.teller
        teller.tick()
        if not teller.began and self.started():
            what = self.job.called or shlex.join(self.job.command)
            teller.began = True
            teller.step("running", f"it is up after {time.monotonic() - teller.since:.1f} s; "
                        f"running {shown(what, MOST_TOLD)}")
        return LOOK_S if teller.steps and not teller.began else 1

    def finish(self) -> int:
        """Unpack /out and return the command's exit status, or say how the guest ended."""
        for channel in self.channels:
            channel.flush()
        if self.said:
            self.said.flush()
        if not all(channel.ended for channel in self.channels):
            kind, moment = ((CommandError, "the command ended") if self.started()
                            else (BootFailed, "the command began"))
            raise kind(f"the guest stopped before {moment}: {self._why()} (log: {self.log})")
        self.hand_over()
        status, taint = map(int, self.channels[0].tail.split())
        trouble = self.trouble() or (taint & (TAINT_DIED | TAINT_WARNED) and f"taint {taint}")
        if trouble:
            raise CommandError(f"the guest's kernel reported a fault: {trouble} (log: {self.log})")
        return status

    def hand_over(self) -> None:
        """Write the files of /out to --out, and the record to its file."""
        if self.out_tar and self.job.out:
            self.out_tar.seek(0)
            for name in output.unpack(self.out_tar, self.job.out):
                self.teller.complain(f"left out of {self.job.out}: {name} (not a plain file)")
        if self.out_tar and self.job.record:
            self.out_tar.seek(0)
            record = output.one_file(self.out_tar, RECORD)
            if record is not None:
                self.job.record(record, bool(self.said and self.said.left_out))

    def _why(self) -> str:
        """Tell why QEMU stopped, in its words or in the guest kernel's."""
        said = self.log.with_suffix(".qemu").read_text(errors="replace").strip().splitlines()
        return self.trouble() or (said[-1] if said else "no panic in the log")

    def started(self) -> bool:
        """Tell whether the guest had come as far as the command."""
        self.up = self.up or STARTED in self.log.read_text(errors="replace")
        return self.up

    def trouble(self) -> str:
        """Return the first line of the kernel's log that tells of a fault in it."""
        lines = self.log.read_text(errors="replace").splitlines()
        return next((line.strip() for line in lines if TROUBLE.search(line)), "")

    def stop(self) -> None:
        """Kill QEMU, if it runs, and wait until it is gone."""
        self.signals.close()
        if self.qemu:
            self.qemu.kill()
            self.qemu.wait()
        complaints = self.log.with_suffix(".qemu")
        if complaints.exists() and not complaints.stat().st_size:
            complaints.unlink()
        self.log_lock.close()


def in_use(file: Path) -> bool:
    """Tell whether the guest runs that writes a log: its tools/guest holds the lock."""
    try:
        with open(file.with_suffix(".log"), "rb") as log:
            return not lock(log.fileno())
    except FileNotFoundError:
        return False


def new_log(release: str) -> tuple[Path, BinaryIO]:
    """Begin a log of the guest's console, drop the oldest of guests that have ended, and keep this
    one from being dropped until its lock is closed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    drop_oldest((each for each in LOGS.glob("*.*") if not in_use(each)), KEEP_LOGS)
    log = LOGS / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{release}.log"
    # pylint: disable-next=consider-using-with
    stream = open(log, "wb")
    lock(stream.fileno(), wait=True)
    return log, stream


def run(job: Job, teller: Teller) -> int:
    """Run `job` and return its exit status, in a second or third machine if one fails to boot.

    Emulated kernels sometimes die while they patch their own code early in the boot (seen on
    6.12: "Oops: int3" in sched_clock_cpu).
    """
    for left in range(BOOTS - 1, -1, -1):
        try:
            return run_once(job, teller)
        except BootFailed as failure:
            if not left:
                raise
            teller.complain(f"{failure}; starting another guest")
    raise AssertionError("unreachable")


def run_once(job: Job, teller: Teller) -> int:
    """Run `job` in one machine; whatever happens, QEMU is gone afterwards."""
    machine = Machine(job, teller)
    try:
        machine.start()
        machine.carry()
        return machine.finish()
    except (Unusable, Unwritten):
        # It is not the guest's fault.
        raise
    except CommandError:
        machine.stop()
        teller.clear()
        show_tail(machine.log)
        raise
    finally:
        teller.clear()
        machine.stop()


def show_tail(log: Path, lines: int = 15) -> None:
    """Show the end of the guest's console, as it tells more than our one line."""
    if log.exists():
        tail = log.read_text(errors="replace").splitlines()[-lines:]
        to_descriptor(2)("".join(f"  | {line}\n" for line in tail).encode())
