# SPDX-License-Identifier: GPL-2.0
"""Run one job in QEMU: start it, carry its streams, and leave no process behind."""
from __future__ import annotations

import errno
import io
import os
import re
import secrets
import selectors
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.common.patience import Stopwatch, within
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import BUILD, CACHE
from copyscope.files.cache import drop_oldest, lock
from copyscope.files.record_file import Unwritten
from copyscope.records.caches import Caches

from . import image, output
from .architectures import Architecture
from .kernels import Kernel
from .monitor import Monitor, MonitorError
from .output import RecordSink
from .snapshots import NoRoom, NotRestored, Snapshot
from .streams import (
    BootFailed,
    Channel,
    LineFilter,
    NotEnded,
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
# A boot takes 2 to 4 s of a processor; at load 20 three in a row took over 90 s by the clock.
BOOT_S = 90
# From a snapshot it is up after 0.7 s.
RESTORE_S = 30
# To write a snapshot takes 0.3 s.
SAVE_S = 30
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
    snapshots: bool = True  # may be taken and restored

    def file_system(self) -> image.FileSystem:
        """What is there before the command comes."""
        return image.FileSystem(self.kernel, self.arch, self.extras, {
            "FORWARDED": self.forwarded_nic(),
            "MODULES": "vmxnet3 virtio_net" if self.has_nic() else ""})

    def has_nic(self) -> bool:
        """Tell whether the guest has any network card."""
        return bool(self.nics or self.forwards) or self.net is not None

    def forwarded_nic(self) -> str:
        """Where forwarded ports arrive, the last of the guest's: name and address; or nothing."""
        nics = self.nics + (self.net is not None)
        return f"eth{nics} {FORWARDED}/24" if self.forwards else ""

    def has_snapshots(self) -> bool:
        """Tell whether such a guest goes on as one that boots. QEMU does not save what a plugin
        knows. A guest whose clock counts instructions is to be the same each time, from its boot
        on. Of two that are joined each needs an address of its own, and vmxnet3 receives by that
        alone which it began with. New random numbers need a program that may not be built."""
        return (self.snapshots and self.model is None and not self.plugin and self.net is None
                and self.arch.emulation == "tcg" and (self.arch.build / "reseed").exists())


@dataclass(frozen=True)
class Wires:
    """What of QEMU's command line leads out of a guest: paths, descriptors, ports of this machine.
    With these, which lead nowhere, it names what a snapshot can be restored into."""

    kernel: str = "kernel"
    log: str = "log"
    pipes: tuple[int, ...] = (0, 0, 0)
    signals: int = 0
    jobs: int = 0
    monitor: int = 0
    net: int = 0
    forwards: tuple[tuple[int, int], ...] = ()


class Machine:
    """A running QEMU and the ports of its guest: stdout, stderr, /out, one for signals and one by
    which it gets its job."""

    def __init__(self, job: Job, teller: Teller, restores: bool = True) -> None:
        self.job, self.teller = job, teller
        self.model = Model(job.model, job.arch) if job.model else None
        self.files = job.file_system()
        self.added = image.added_layer(job.added, job.arch, self.files)
        self.snapshot = self._snapshot() if job.has_snapshots() else None
        self.restores, self.restored = restores, False
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
        self.jobs, self.guests_jobs = socket.socketpair()
        self.monitor = Monitor()
        self.qemu: subprocess.Popen | None = None
        self.started_at, self.waited = time.monotonic(), Stopwatch()

    def _snapshot(self) -> Snapshot:
        """The snapshot of such a guest."""
        words = self._command(Wires())
        return Snapshot(self.job.kernel, [*self.files.key(), *words], words[0])

    def start(self) -> None:
        """Start QEMU, by a snapshot if there is one; the kernel kills it should we die first."""
        with self.snapshot.opened() if self.snapshot and self.restores else nullcontext() as saved:
            self.restored = saved is not None
            release = self.job.kernel.release
            self.teller.step(f"{'restoring' if self.restored else 'booting'} kernel {release} "
                             "in QEMU")
            self.started_at, self.waited = time.monotonic(), Stopwatch()
            if saved is not None:
                # All that it was made of is in its memory.
                self._start(["-incoming", f"fd:{saved}"], [saved])
                return
            initrd = self._initrd()
            try:
                self._start(["-initrd", f"/proc/self/fd/{initrd}"], [initrd])
            finally:
                os.close(initrd)

    def _start(self, begins: list[str], needed: list[int]) -> None:
        job = self.job
        wires = Wires(str(job.kernel.vmlinuz), str(self.log), tuple(w for _, w in self.pipes),
                      self.guests_signals.detach(), self.guests_jobs.detach(),
                      self.monitor.theirs.detach(), job.net or 0, tuple(job.forwards))
        closing = [wires.signals, wires.jobs, wires.monitor, *wires.pipes]
        closing += self.model.descriptors() if self.model else []
        inherited = closing + needed + [job.net] * (job.net is not None)
        command = [*self._command(wires), *begins]
        if self.model:
            command += self.model.words(self.model_port)
        with open(self.log.with_suffix(".qemu"), "wb") as complaints:
            self.qemu = programs.start(
                command, stdin=subprocess.DEVNULL, stdout=complaints,
                stderr=complaints, pass_fds=inherited,
                # A terminal's Ctrl-C is for us alone: we pass it into the guest.
                preexec_fn=kill_with_parent(session=True))
        for descriptor in closing:
            os.close(descriptor)

    def _initrd(self) -> int:
        """Join the layers in memory, so that no way to die leaves a file."""
        descriptor = os.memfd_create("initrd")
        with open(descriptor, "wb", closefd=False) as stream:
            self.files.write(stream)
        return descriptor

    def _job(self) -> bytes:
        """The archive that the guest waits for."""
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
                    "SAVE_OUT": "yes" if self.out_tar else "no"}
        stream = io.BytesIO()
        image.write_job(stream, self.added, settings, environment, job.command)
        return stream.getvalue()

    def _command(self, wires: Wires) -> list[str]:
        """Compose QEMU's command line."""
        job, arch = self.job, self.job.arch
        program = programs.find(arch.program)
        if not program:
            raise Refused(f"{arch.program} is missing: apt-get install {arch.package}")
        command = [program, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                   *arch.options, "-smp", str(job.cpus), "-m", job.memory,
                   "-kernel", wires.kernel,
                   "-append", f"{arch.line_of(job.kernel.release)}"
                   f"{KERNEL_LINE if self.model else ''} {job.line}",
                   "-serial", f"file:{wires.log}",
                   "-chardev", f"socket,id=monitor,fd={wires.monitor}",
                   "-mon", "chardev=monitor,mode=control", "-device", "virtio-serial-pci"]
        for number, write in enumerate(wires.pipes, start=1):
            command += ["-chardev", f"file,id=port{number},path=/proc/self/fd/{write}",
                        "-device", f"virtserialport,chardev=port{number},nr={number}"]
        for number, (name, descriptor) in enumerate(
                {"signals": wires.signals, "jobs": wires.jobs}.items(), len(wires.pipes) + 1):
            command += ["-chardev", f"socket,id={name},fd={descriptor}",
                        "-device", f"virtserialport,chardev={name},nr={number}"]
        if job.plugin:
            command += ["-plugin", job.plugin]
        for number in range(job.nics):
            command += ["-netdev", f"hubport,id=nic{number},hubid=0",
                        "-device", f"vmxnet3,netdev=nic{number}"]
        if job.net is not None:
            # Two guests must not have one address.
            address = "52:54:" + ":".join(f"{byte:02x}" for byte in secrets.token_bytes(4))
            command += ["-netdev", f"dgram,id=net,local.type=fd,local.str={wires.net}",
                        "-device", f"vmxnet3,netdev=net,mac={address}"]
        if job.forwards:
            # It answers nothing else: the guest has no way out.
            rules = "".join(f",hostfwd=tcp:127.0.0.1:{here}-{FORWARDED}:{there}"
                            for here, there in wires.forwards)
            command += ["-netdev", f"user,id=forward,restrict=on{rules}",
                        "-device", "virtio-net-pci,netdev=forward"]
        return command if job.has_nic() else command + ["-nic", "none"]

    @property
    def model_port(self) -> int:
        """Number of the port by which the plugin reports: the next one."""
        return len(self.pipes) + 3

    def hand_job(self) -> bool:
        """Give the guest its job once it waits for it; False if QEMU has ended."""
        job = self._job()
        try:
            if self.restored:
                left = self._within(RESTORE_S)
                self.monitor.wait_restored(left)
                self.monitor.ask("cont", left)
            else:
                self._wait_ready()
                self._save()
            self._send(job)
            self._send(f"{time.time():.6f}\n".encode())
        except (MonitorError, ConnectionError):
            self._look_at_clock()
            return False
        return True

    def _within(self, seconds: float) -> Callable[[], float]:
        """What says how many of these seconds are left, or of the whole guest's."""
        left, end = within(seconds), self.started_at + self.job.timeout
        return lambda: min(left(), end - time.monotonic())

    def _wait_ready(self) -> None:
        """Wait until a guest that boots says that it waits for its job."""
        said = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.jobs, selectors.EVENT_READ)
            while not said.endswith(b"\n"):
                self._look_at_clock()
                if selector.select(self.look()):
                    data = self.jobs.recv(64)
                    if not data:
                        raise ConnectionResetError
                    said += data

    def _look_at_clock(self) -> float:
        """Return how many seconds are left, unless something took too long."""
        left = self.started_at + self.job.timeout - time.monotonic()
        if left <= 0:
            raise TimedOut(f"the guest was stopped after {self.job.timeout:g} s (log: {self.log})")
        if self.waited.seconds() > (RESTORE_S if self.restored else BOOT_S) and not self.started():
            doing = "was restored" if self.restored else "booted"
            raise BootFailed(f"the guest hung while it {doing} (log: {self.log})")
        return left

    def _save(self) -> None:
        """Take a snapshot of a guest that waits for its job, and have it go on."""
        if not self.snapshot or self.trouble():
            return
        left = self._within(SAVE_S)
        try:
            with self.snapshot.claimed() as ours:
                if not ours:
                    return
                with self.snapshot.made() as descriptor:
                    self.monitor.ask("stop", left)
                    try:
                        self.monitor.save(descriptor, left)
                    finally:
                        self.monitor.ask("cont", self._within(SAVE_S))
        except (OSError, NoRoom, MonitorError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            # Some file systems can keep none, ever.
            if not isinstance(error, OSError) or error.errno != errno.EOPNOTSUPP:
                self.teller.complain(f"no snapshot of this guest is kept: {why}")

    def _send(self, data: bytes) -> None:
        """Write to the port by which the guest gets its job."""
        view = memoryview(data)
        while view:
            self.jobs.settimeout(min(self._look_at_clock(), self.look()))
            with suppress(TimeoutError):
                view = view[self.jobs.send(view):]

    def carry(self) -> None:
        """Carry the streams until every port has ended, QEMU stops or time is up."""
        with (SignalForwarder(self.signals, self.started, self.teller.complain) as signals,
              selectors.DefaultSelector() as selector):
            for (read, _), channel in zip(self.pipes, self.channels):
                selector.register(read, selectors.EVENT_READ, channel)
            while selector.get_map() and not all(c.ended for c in self.channels):
                signals.check_time_limit()
                left = self._look_at_clock()
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
        for ours in (self.signals, self.jobs, self.monitor.ours):
            ours.close()
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
    restores = True
    for left in range(BOOTS - 1, -1, -1):
        try:
            try:
                return run_once(job, teller, restores)
            except NotRestored as failure:
                teller.complain(f"{failure}; booting")
                restores = False
                return run_once(job, teller, restores)
        except BootFailed as failure:
            if not left:
                raise
            teller.complain(f"{failure}; starting another guest")
    raise AssertionError("unreachable")


def run_once(job: Job, teller: Teller, restores: bool) -> int:
    """Run `job` in one machine, restored if that is wanted and its snapshot there; whatever
    happens, QEMU is gone afterwards."""
    machine = Machine(job, teller, restores)
    try:
        machine.start()
        if machine.hand_job():
            machine.carry()
        return machine.finish()
    except (Unusable, Unwritten):
        # It is not the guest's fault.
        raise
    except CommandError as error:
        machine.stop()
        teller.clear()
        if machine.snapshot and (machine.restored or isinstance(error, NotRestored)) \
                and not isinstance(error, (TimedOut, NotEnded)):
            # It may be why the guest failed.
            machine.snapshot.drop()
            if isinstance(error, (BootFailed, NotRestored)):
                raise NotRestored(f"the snapshot of kernel {job.kernel.release} was thrown away: "
                                  f"{error}") from error
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
