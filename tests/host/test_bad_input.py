# SPDX-License-Identifier: GPL-2.0
"""What trace_run cannot do is told in one line, before anything is touched."""
import argparse
import os
import subprocess

import pytest

from copyscope import cli
from helpers import leftovers, processes, records

USAGE, REFUSED = 2, 3
NOBODY = 65534
SWEEP = records.ROOT / "tools/sweep"
# The program dies of SIGSYS, not of an exit code, if it gets so far as to touch anything.
UNTOUCHED = ("bpf", "unshare", "setns")

GOOD = "A3 65536 4"
BAD_WORDS = {
    "no words": "",
    "too few words": "A3 65536",
    "too many words": "A3 65536 4 4",
    "unknown variant": "A9 65536 4",
    "variant with a letter too many": "A33 65536 4",
    "bytes 0": "A3 0 4",
    "bytes below 8": "A3 7 4",
    "bytes negative": "A3 -- -1 4",
    "bytes huge": "A3 99999999999999999999 4",
    "bytes that overflow by suffix": "A3 18014398509481985k 4",
    "bytes above the limit": "A3 65M 4",
    "bytes with a tail": "A3 12x 4",
    "bytes in hex": "A3 0x40 4",
    "bytes empty": ["A3", "", "4"],
    "threads 0": "A3 65536 0",
    "threads negative": "A3 65536 -- -1",
    "threads above the limit": "A3 65536 1025",
    "threads not a number": "A3 65536 four",
    "messages 0": f"{GOOD} --messages 0",
    "messages negative": f"{GOOD} --messages -5",
    "messages huge": f"{GOOD} --messages 99999999999999999999",
    "seconds 0": f"{GOOD} --seconds 0",
    "seconds negative": f"{GOOD} --seconds -1",
    "seconds nan": f"{GOOD} --seconds nan",
    "seconds inf": f"{GOOD} --seconds inf",
    "seconds with a tail": f"{GOOD} --seconds 2s",
    "messages and seconds": f"{GOOD} --messages 5 --seconds 1",
    "unknown path": f"{GOOD} --path tunnel",
    "addresses that are none": f"{GOOD} --addresses here,there/24",
    "addresses without bits": f"{GOOD} --addresses 10.0.0.1,10.0.0.2",
    "addresses of two families": f"{GOOD} --addresses 10.0.0.1,fd00::2/24",
    "addresses of two networks": f"{GOOD} --addresses 10.0.0.1,10.0.0.9/29",
    "the same address twice": f"{GOOD} --addresses 10.0.0.1,10.0.0.1/24",
    "network of 32 bits": f"{GOOD} --addresses 10.0.0.1,10.0.0.2/32",
    "one address on veth": f"{GOOD} --addresses 10.0.0.1",
    "two addresses on lo": f"{GOOD} --path lo --addresses 127.0.0.1,127.0.0.2/8",
    "one device": f"{GOOD} --devices veth0",
    "the same device twice": f"{GOOD} --devices veth0,veth0",
    "device with a name too long": f"{GOOD} --devices veth0,vethernetnumber1",
    "device with words in its name": [*GOOD.split(), "--devices", "veth0,a type dummy"],
    "devices on lo": f"{GOOD} --path lo --devices a,b",
    "peer without a host": f"{GOOD} --path peer",
    "host on another path": f"{GOOD} --host lab2",
    "ssh on another path": f"{GOOD} --ssh ssh",
    "far on another path": f"{GOOD} --far trace_run",
    "role on another path": f"{GOOD} --role receiver",
    "host without a name": f"{GOOD} --path peer --host=",
    "host that is an option": f"{GOOD} --path peer --host=-oProxyCommand=true",
    "host without a plan": "--path peer --host lab2",
    "role of none": f"{GOOD} --path peer --host lab2 --role king",
    "ssh of no word": f"{GOOD} --path peer --host lab2 --ssh=",
    "ssh with a second command": [*GOOD.split(), "--path", "peer", "--host", "lab2", "--ssh", "ssh; true"],
    "ssh that starts a shell": [*GOOD.split(), "--path", "peer", "--host", "lab2", "--ssh", "ssh $(true)"],
    "ssh with an open quote": [*GOOD.split(), "--path", "peer", "--host", "lab2", "--ssh", "ssh 'a"],
    "far of nothing": f"{GOOD} --path peer --host lab2 --far=",
    "peer with devices": f"{GOOD} --path peer --host lab2 --devices a,b",
    "peer with one address": f"{GOOD} --path peer --host lab2 --addresses 10.0.0.1",
    "peer with the bits of a network": f"{GOOD} --path peer --host lab2 --addresses 10.0.0.1,10.0.0.2/24",
    "port 0": f"{GOOD} --port 0",
    "tap nowhere": f"{GOOD} --tap router",
    "tap with a comma too many": f"{GOOD} --tap tx,",
    "mtu that no host must take": f"{GOOD} --mtu 575",
    "mtu that no packet can have": f"{GOOD} --mtu 65536",
    "mtu too small for IPv6": f"{GOOD} --mtu 1279 --ipv6",
    "IPv6 and addresses": f"{GOOD} --ipv6 --addresses 10.0.0.1,10.0.0.2/24",
    "forward with addresses": f"{GOOD} --path forward --addresses 10.0.0.1,10.0.0.2/24",
    "netem without a number": f"{GOOD} --netem loss",
    "netem of two lines": [*GOOD.split(), "--netem", "loss 1%\nqdisc del dev lo root"],
    "netem that duplicates": [*GOOD.split(), "--netem", "loss 1% duplicate 1%"],
    "netem that corrupts": [*GOOD.split(), "--netem", "corrupt 1%"],
    "qdisc of another kind": f"{GOOD} --qdisc fq",
    "qdisc that is netem": [*GOOD.split(), "--qdisc", "netem duplicate 1%"],
    "qdisc of two lines": [*GOOD.split(), "--qdisc", "pfifo limit 3\nqdisc del dev lo root"],
    "two queues": [*GOOD.split(), "--qdisc", "pfifo limit 3", "--netem", "loss 1%"],
    "netem too long": [*GOOD.split(), "--netem", "delay 1ms " * 20],
    "peer with costs": f"{GOOD} --path peer --host lab2 --cost",
    "unknown pass": f"{GOOD} --pass some",
    "two kinds of pass": f"{GOOD} --pass counted --no-probes",
    "peer with two passes": f"{GOOD} --path peer --host lab2 --pass both",
    "fault without probes": f"{GOOD} --pass timed --break lose-update",
    "peer in a guest of its own": f"{GOOD} --path peer --host lab2 --kernel 6.12",
    "peer with a tap": f"{GOOD} --path peer --host lab2 --tap tx",
    "nic without devices": f"{GOOD} --path nic",
    "nic that is not there": f"{GOOD} --path nic --devices nosuch0,nosuch1",
    "nic on no bus": f"{GOOD} --path forward --devices sit0,ip6tnl0",
    "port 65536": f"{GOOD} --port 65536",
    "memlock for a plain send": "A2 65536 4 --memlock 1M",
    "memlock below one send": f"{GOOD} --memlock 64k",
    "memlock 0": f"{GOOD} --memlock 0",
    "optmem without SO_ZEROCOPY": "A3-unset 65536 4 --optmem 4096",
    "optmem below one notification": f"{GOOD} --optmem 2047",
    "replies by UDP": "udp 4096 1 --pattern rr",
    "readers of datagrams": "udp-zc 4096 1 --readers 2",
    "datagrams of TCP": "A1 4096 1 --piece 1400",
    "a datagram that is too long": "udp 4096 1 --piece 65508",
    "datagrams by themselves, of TCP": "A1 4096 1 --behaviours no-gro",
    "another receiver of datagrams": "udp 4096 1 --receiver recvmsg",
    "optmem above an int": f"{GOOD} --optmem 2147483648",
    "unknown pattern": f"{GOOD} --pattern mesh",
    "unknown receiver": f"{GOOD} --receiver read",
    "unknown backend": f"{GOOD} --backend kprobe",
    "unknown break": f"{GOOD} --break everything",
    "break without a site": f"{GOOD} --break detach:",
    "unknown option": f"{GOOD} --frobnicate",
    "option without its value": f"{GOOD} --path",
    "launcher's option without its value": f"{GOOD} --json",
    "json names no file": f"{GOOD} --json=",
    "json in a folder that is not there": f"{GOOD} --json no/such/folder/record.json",
    "json is a folder": f"{GOOD} --json tests",
    "json of a guest is a folder": f"{GOOD} --kernel 6.12 --json tests",
    "unknown kernel": f"{GOOD} --kernel 9.99",
    "kernel without a name": f"{GOOD} --kernel=",
}


@pytest.fixture(name="place")
def private_place(tmp_path):
    """Where records and temporary files go: both must stay empty."""
    for name in "runs", "tmp":
        (tmp_path / name).mkdir()
    return tmp_path


def run(place, words, forbidden=UNTOUCHED, **options):
    """Runs a command that must not make what is forbidden."""
    environment = {**os.environ, "COPYSCOPE_RUNS": str(place / "runs"),
                   "TMPDIR": str(place / "tmp")}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, cwd=records.ROOT, env=environment,
                          preexec_fn=processes.forbid(*forbidden), timeout=60, check=False,
                          **options)


def check_refusal(done, code, place, *hints):
    """One line that says what to do, nothing on stdout, the right code, nothing written."""
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    # Five lines of a terminal: it may name all variants.
    assert len(done.stderr) < 400
    for hint in hints:
        assert hint in done.stderr
    assert not os.listdir(place / "runs") and not os.listdir(place / "tmp")


def in_private_mounts(script, *words):
    """Words that run the script and then trace_run where nobody else sees the mounts."""
    return ["unshare", "--mount", "--", "sh", "-c", f"{script}", "sh", *words]


@pytest.mark.parametrize("case", BAD_WORDS)
def test_bad_words_are_one_line_and_exit_2(case, place):
    words = BAD_WORDS[case]
    words = words if isinstance(words, list) else words.split()
    # The launcher passes on what it does not read itself.
    its_own = "-guest" in case or any(word.startswith(("--json", "--kernel")) for word in words)
    program = records.TRACE_RUN if its_own or list(BAD_WORDS).index(case) % 8 == 0 else records.ROOT / "build/trace_run"
    check_refusal(run(place, [program, *words]), USAGE, place)


@pytest.mark.parametrize("word, told", [
    ("--secs", "did you mean --seconds?"), ("--mesages=5", "did you mean --messages?"),
    ("--peth", "did you mean --path?"), ("--hoost", "did you mean --host?"),
    ("--seconds", "lacks its value"), ("--quiet=5", "takes no value"), ("--zzz", "is no option;")])
def test_a_mistyped_option_gets_its_neighbour(word, told, place):
    check_refusal(run(place, [records.TRACE_RUN, *GOOD.split(), word]), USAGE, place, told)


@pytest.mark.parametrize("word", ["64 k", "1M B", "64kk", "64Bi", "64G", "64b"])
def test_a_size_in_other_units_is_explained(word, place):
    explained = "k, KB, KiB are 1024"
    check_refusal(run(place, [records.TRACE_RUN, "A3", word, "1"]), USAGE, place, f"BYTES '{word}'", explained)
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{word}'.*{explained}"):
        cli.number(word)


@pytest.mark.parametrize("words, size", [
    (("64k", "64K", "64KB", "64kB", "64kb", "64KiB", "64kib", "65536"), 65536), (("1M", "1m", "1MB", "1MiB", "1024k"), 1 << 20)])
def test_a_size_has_one_meaning_however_it_is_written(words, size, place):
    """tests/unit/text_test.c has the same words for programs in C."""
    assert [cli.number(word) for word in words] == [size] * len(words)
    # The next word is the one that is refused.
    check_refusal(run(place, [records.TRACE_RUN, "A1", words[-2], "none"]), USAGE, place, "THREADS 'none'")
    done = run(place, [SWEEP, "--variants", "A1", "--sizes", words[-2], "--dry-run"])
    assert done.returncode == 0 and f" A1 {size} 1 " in done.stdout, done


@records.needs_root
def test_a_variant_is_understood_in_small_letters():
    record = records.run_record("a3-ALIGNED", 4096, 1, "--messages", 3, "--pass", "counted")
    assert record["experiment"]["workload"]["variant"] == "A3-aligned"


def test_without_root_it_says_how_to_get_it(place):
    with open(records.ROOT / "build" / "trace_run", "rb") as program:
        # By descriptor: the tree may lie where nobody cannot look.
        options = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        done = run(place, ["trace_run", *GOOD.split()], pass_fds=[program.fileno()],
                   executable=f"/proc/self/fd/{program.fileno()}", **options)
    check_refusal(done, REFUSED, place, "root", "sudo")


@records.needs_root
def test_without_btf_it_says_what_kernel_to_take(place):
    (place / "empty").mkdir()
    words = in_private_mounts(f'mount --bind {place}/empty /sys/kernel/btf && exec "$@"',
                              records.TRACE_RUN, *GOOD.split())
    check_refusal(run(place, words, ["bpf", "setns"]), REFUSED, place, "BTF", "--kernel 6.12")


@records.needs_root
def test_a_full_disk_is_told_before_the_run_and_nothing_is_left_on_it(place):
    (place / "disk").mkdir()
    script = (f"cd {place} && mount -t tmpfs -o size=64k disk disk || exit 99; "
              "cat /dev/zero > disk/full 2> errors; "
              '"$@"; code=$?; ls -A disk > listing; exit $code')
    words = in_private_mounts(script, records.TRACE_RUN, *GOOD.split(), "--json",
                              place / "disk" / "record.json")
    check_refusal(run(place, words, ["bpf", "setns"]), REFUSED, place, "No space left", "--json")
    assert (place / "listing").read_text() == "full\n"


@records.needs_root
def test_a_record_on_a_full_stdout_fails_the_run(place):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            [str(records.TRACE_RUN), "A1", "64", "1", "--messages", "1", "--json", "-"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
            env={**os.environ, "COPYSCOPE_RUNS": str(place / "runs")})
    assert done.returncode == 1
    assert "cannot write the record" in done.stderr.splitlines()[-1]


@records.needs_root
def test_what_is_forbidden_here_is_what_a_run_needs(place):
    """Else the cases above could not tell that nothing was touched."""
    before = leftovers.interfaces()
    for forbidden in UNTOUCHED:
        done = run(place, [records.ROOT / "build" / "trace_run", *GOOD.split(),
                           "--messages", "4"], [forbidden])
        # The process that makes the try dies; who waits for it tells.
        assert done.returncode == 1, f"a run does not need {forbidden}"
        assert "signal 31" in done.stderr
    assert leftovers.interfaces() == before
