# SPDX-License-Identifier: GPL-2.0
"""In namespaces a run counts its own bytes and nobody else's, whatever numbers its processes have."""
import contextlib
import errno
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from helpers import peers, processes, records, workload
from helpers.books import (
    PRIME_BYTES,
    PRIME_MESSAGES,
    PRIME_PAYLOAD,
    TRACEPOINT_NOT_TESTABLE,
    check_laws,
    check_sites,
)

pytestmark = records.needs_root

REFUSED = 3
HELPERS = Path(__file__).resolve().parents[1] / "helpers"
CONTAINER, CHROOT = HELPERS / "container.sh", HELPERS / "chroot.sh"
PRIME = (PRIME_BYTES, 4, "--messages", PRIME_MESSAGES)
PID = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
PID_FOREIGN_PROC = ("unshare", "--pid", "--fork", "--kill-child", "--")
EVERY_KIND = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc",
              "--uts", "--cgroup", "--mount", "--")


def with_mounts(script):
    """Words that run the script in a mount namespace, then what follows them."""
    return ("unshare", "--mount", "--", "sh", "-c", script + ' && exec "$@"', "sh")


PLACES = {
    "a PID namespace": PID,
    "a PID namespace in a PID namespace": PID + PID,
    "a PID namespace that sees the /proc of another": PID_FOREIGN_PROC,
    "a network namespace": ("unshare", "--net", "--"),
    "a mount namespace": ("unshare", "--mount", "--"),
    "a cgroup namespace": ("unshare", "--cgroup", "--"),
    "namespaces of every kind but user": EVERY_KIND,
    "a place without /proc": with_mounts("umount -R /proc"),
    "a place with a fresh /sys": with_mounts("umount -R /sys; mount -t sysfs -o ro sysfs /sys"),
    "a place without /dev/shm": with_mounts("mount -t tmpfs tmpfs /dev"),
}


def start_in(place, *words, **options):
    """Starts trace_run by way of the words that make its namespaces; it prints its record."""
    command = [*place, records.TRACE_RUN, *words, "--json", "-"]
    return subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, cwd=records.ROOT, **options)


def check_exact(done):
    """The run ended well, and its books hold the workload's bytes and no others."""
    assert done.code in records.WELL, done.err + records.broken_text(done.out)
    record = done.record
    work = record["experiment"]["workload"]
    check_sites(record, work["messages"] * work["bytes"])
    backend = record["backend"]["name"]
    check_laws(record, TRACEPOINT_NOT_TESTABLE if backend == "tracepoint" else frozenset())
    assert len(record["sockets"]) == 2 * work["threads"]
    return record


def pids(record):
    """The pids of both ends, as the run's PID namespace numbers them."""
    return {each["end"]: each["pid"] for each in record["sockets"]}


def checked_by_perf(place):
    """The sites whose hooks have a perf counter beside them, of a run that is started in this way."""
    record = check_exact(records.finish(start_in(place, "A3", *PRIME, "--pass", "counted")))
    return {probe["site"] for probe in record["backend"]["probes"]
            if probe["unseen_firings"] is not None}


def test_perf_counts_beside_the_programs_in_a_chroot_too(tmp_path):
    here = checked_by_perf(())
    if not here:
        pytest.skip("perf or tracefs refuses on this machine")
    place = tmp_path / "root"
    place.mkdir()
    # nobody runs the workload there.
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    assert checked_by_perf(("unshare", "--mount", "--", CHROOT, place)) == here


@pytest.mark.parametrize("place, variant", [(place, ("A1", "A3")[number % 2]) for number, place in enumerate(PLACES)])
def test_every_byte_is_found_in(place, variant):
    record = check_exact(records.finish(start_in(PLACES[place], variant, *PRIME)))
    assert record["experiment"]["workload"]["accepted_bytes"] == PRIME_PAYLOAD
    for end in "sender", "receiver":
        assert record["experiment"]["counters"][end]["task-clock"]["value"] > 0


def test_two_runs_with_the_same_pids_count_each_its_own():
    runs = [start_in(PID, variant, 65536, 2, "--seconds", 1) for variant in ("A3", "A3")]
    try:
        done = [records.finish(run) for run in runs]
    finally:
        for run in runs:
            run.kill()
    found = [check_exact(each) for each in done]
    # A try that is made again has pids of its own.
    if {each["experiment"]["attempt"] for each in found} == {1}:
        assert pids(found[0]) == pids(found[1])
    # Else packets of one run would be told by their addresses to be the other's.
    assert not {each["local"] for each in found[0]["sockets"]} & {
        each["local"] for each in found[1]["sockets"]}
    assert found[0]["id"] != found[1]["id"]


@contextlib.contextmanager
def stranger(variant):
    """A pair of the same kind that nobody traces, at full speed; yields the pid of its sender and
    a function that ends it and says what was sent."""
    with workload.server(variant, 65536, "--seconds", 30, "--json", "--clients", 1) as sender:
        with workload.client(sender, 65536, 1, "--json") as receiver:
            def end():
                sender.process.terminate()
                # One that has no processor meanwhile may end within a message, which fails the receiver.
                _, out, err = receiver.finish()
                assert out, err
                return json.loads(out)["received_bytes"]

            yield sender.process.pid, end


@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_a_stranger_that_has_our_number_is_not_counted(variant):
    found = next(each for each in (check_exact(records.finish(start_in(PID, variant, *PRIME)))
                                   for _ in range(5)) if each["experiment"]["attempt"] == 1)
    first = pids(found)["sender"]
    with stranger(variant) as (pid, end_stranger):
        # The sender was the first-th process of its namespace: have it be the pid-th.
        shifted = (*PID, "sh", "-c", 'echo $1 >/proc/sys/kernel/ns_last_pid && shift && "$@"', "sh",
                   pid - first)
        processes.wait_until(lambda: len(processes.threads(pid)) > 1)
        done = records.finish(start_in(shifted, variant, *PRIME))
        noise = end_stranger()
    record = check_exact(done)
    # A try that is made again has other numbers, after one that had this.
    assert pids(record)["sender"] == pid or record["experiment"]["attempt"] > 1
    assert record["experiment"]["workload"]["accepted_bytes"] == PRIME_PAYLOAD
    assert noise > 100 * PRIME_PAYLOAD


@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_every_byte_is_found_in_a_privileged_container(variant, tmp_path):
    check_exact(records.finish(start_in((*EVERY_KIND, CONTAINER, tmp_path), variant, *PRIME)))


def test_what_uprobes_miss_is_named():
    place = with_mounts("umount -q /sys/kernel/tracing; mount -t tmpfs tmpfs /sys/bus")
    done = records.finish(start_in(place, "A1", *PRIME))
    assert done.code in records.WELL, done.err
    probe, = records.probes(done.record, "user_gather")
    assert "/sys/bus/event_source" in probe["why"]
    assert records.how(done.record, "user_gather") == "not_measured"


# Where it cannot work

def check_refused(done, *hints):
    """One line that names what is missing, and nothing on stdout."""
    assert (done.code, done.out) == (REFUSED, ""), done.err
    assert len(done.err.splitlines()) == 1, done.err
    for hint in hints:
        assert hint in done.err


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("call", ["bpf", "perf_event_open", "unshare", "setns"])
def test_a_filter_that_refuses_is_named(call, error):
    done = records.run("A3", *PRIME, "--json", "-",
                       preexec_fn=processes.forbid(call, error=error))
    check_refused(done, f"{call}()", "seccomp=unconfined")


FEW = ("sys_admin", "net_admin", "bpf", "perfmon", "syslog", "setuid", "setgid", "setpcap", "kill")


@pytest.mark.parametrize("more", ["--path lo", "--optmem 4096", "--no-sg", "--cost"])
def test_few_capabilities_are_enough(more):
    place = ("setpriv", f"--bounding-set=-all,{','.join(f'+{each}' for each in FEW)}", "--")
    done = records.finish(start_in(place, "A3", 65536, 2, "--messages", 10, *more.split()))
    assert done.code in records.WELL, done.err


def test_a_capture_takes_a_capability_more():
    place = ("setpriv", "--bounding-set=-net_raw", "--")
    check_refused(records.finish(start_in(place, "A3", *PRIME, "--tap", "tx")), "CAP_NET_RAW")


@pytest.mark.parametrize("lacks", ["sys_admin", "net_admin", "setuid", "setgid", "kill", "bpf",
                                   "perfmon", "syslog", "setpcap", "bpf,perfmon"])
def test_capabilities_that_are_missing_are_named(lacks):
    words = [f"-{each}" for each in lacks.split(",")]
    place = ("setpriv", f"--bounding-set={','.join(words)}", "--")
    check_refused(records.finish(start_in(place, "A3", *PRIME)), "--cap-add",
                  ", ".join(f"CAP_{each.upper()}" for each in lacks.split(",")) + ":")


MISSING = {
    "/sys": (with_mounts("umount -R /sys"), ("/sys is not mounted", "mount -t sysfs")),
    "the kernel's types": (with_mounts("mount -t tmpfs tmpfs /sys/kernel/btf"), ("BTF",)),
    "--fork": (("unshare", "--pid", "--"), ("--fork",)),
    "a machine's root": (("unshare", "--user", "--map-root-user", "--pid", "--fork",
                          "--mount-proc", "--"), ("bpf()", "user namespace")),
    "a machine's root, and its own /proc": (
        ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--"),
        ("bpf()", "user namespace")),
}


@pytest.mark.parametrize("what", MISSING)
def test_it_says_so_without(what):
    place, hints = MISSING[what]
    check_refused(records.finish(start_in(place, "A3", *PRIME)), *hints)


def start_mapped(ranges, *words, others=("--net",), first_of_all=":"):
    """Starts trace_run in a user namespace that has these lines of users and groups."""
    # A shell that was there before the lines has lost its capabilities; an execve as root gives them.
    script = 'read -r mapped && exec setpriv --reuid 0 --regid 0 --clear-groups "$@"'
    run = start_in(("unshare", "--user", *others, "--", "sh", "-c", script, "sh",
                    "sh", "-c", f'{first_of_all} && exec "$@"', "sh"), *words, stdin=subprocess.PIPE)
    first = Path("/proc/self/ns/user").stat().st_ino
    processes.wait_until(lambda: Path(f"/proc/{run.pid}/ns/user").stat().st_ino != first)
    for kind in "uid_map", "gid_map":
        Path(f"/proc/{run.pid}/{kind}").write_text(ranges)
    run.stdin.write("mapped\n")
    run.stdin.flush()
    return run


def test_a_user_namespace_does_without_probes():
    done = records.finish(start_mapped("0 0 65536\n", "A3", *PRIME, "--no-probes"))
    assert done.code in records.WELL, done.err
    assert done.record["experiment"]["workload"]["accepted_bytes"] == PRIME_PAYLOAD


def test_a_user_namespace_without_another_user_is_told():
    check_refused(records.finish(start_mapped("0 0 60000\n", "A3", *PRIME, "--no-probes")),
                  "become another user", "map")


def test_a_user_namespace_in_a_network_namespace_of_others_is_told():
    run = start_mapped("0 0 65536\n", "A3", *PRIME, "--no-probes", others=())
    check_refused(records.finish(run), "unshare --net")


def test_a_limit_of_network_namespaces_is_told():
    run = start_mapped("0 0 65536\n", "A3", *PRIME, "--no-probes",
                       first_of_all="echo 1 >/proc/sys/user/max_net_namespaces")
    check_refused(records.finish(run), "user.max_net_namespaces")


# Two hosts

def test_two_containers_make_a_run_of_two_hosts():
    run = start_in(PID, "A3", *PRIME, "--path", "peer", "--host", peers.HOST, "--ssh", peers.LOCAL_SSH, "--far",
                   shlex.join([*PID, str(records.TRACE_RUN)]),
                   env={**os.environ, "SSH_CONNECTION": "127.0.0.1 50000 127.0.0.1 22"})
    ends = pids(check_exact(records.finish(run)))
    # Each as its own container numbers it: all that a run starts are a few dozen.
    assert set(ends) == {"sender", "receiver"} and max(ends.values()) < 100


# The other tools

BASELINE = records.ROOT / "build" / "baseline"
ROWS = ("process", "remote-sequential", "tcp-rtt-remote")


def baseline_in(place):
    """What a short baseline in some namespaces leaves; its record is on stdout."""
    only = [word for row in ROWS for word in ("--only", row)]
    return subprocess.run([*place, BASELINE, "--quick", "--runs", "2", *only, "--json", "-"],
                          capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("place", [PID, PID_FOREIGN_PROC], ids=["own /proc", "foreign /proc"])
def test_the_baseline_proves_its_rows_in_a_pid_namespace(place):
    done = baseline_in(place)
    assert done.returncode == 0, done.stderr
    rows = {each["row"]: each["status"] for each in json.loads(done.stdout)["rows"]}
    assert {rows[row] for row in ROWS} == {"valid"}


def test_the_baseline_says_what_its_children_lack():
    done = baseline_in(("unshare", "--pid", "--"))
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert "--fork" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_sweep_is_made_in_a_pid_namespace(tmp_path):
    words = ("--profile standard --variants A1,A3 --sizes 4k --threads 1 --repeats 1 --seconds 0.1 "
             "--others-at-most 1 --quiet --out")
    done = subprocess.run([*PID, records.ROOT / "tools" / "sweep", *words.split(), tmp_path / "out"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2
