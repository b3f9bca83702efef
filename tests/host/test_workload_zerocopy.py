# SPDX-License-Identifier: GPL-2.0
"""Zero-copy sends complete once each, and no buffer is overwritten too early."""
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from helpers.books import BY_RING
from helpers.names import names
from helpers.peers import Host
from helpers.processes import forbid
from helpers.records import needs_root
from helpers.workload import ROOT, TIMEOUT_S, WORKLOAD, client, run_pair, run_plain, server


@pytest.mark.parametrize("variant", ["A3", "A3-aligned", "A3-reuse", *sorted(BY_RING)])
def test_every_zerocopy_send_completes_once(variant):
    a, _ = run_pair(variant, 65536, 2, "stream", "recv", 500)
    assert a["zerocopy_sends"] == a["completions"] >= 500
    assert a["completion_errors"] == 0


def test_without_so_zerocopy_nothing_completes():
    a, _ = run_pair("A3-unset", 65536, 1, "stream", "recv", 50)
    assert a["zerocopy_sends"] == a["completions"] == a["completions_copied"] == 0


def test_unread_completions_are_null_with_a_reason():
    a, b = run_pair("A3-unreaped", 65536, 1, "stream", "recv", 300)
    assert a["zerocopy_sends"] >= 300
    assert a["completions"] is None and "never reads" in a["completions_why"]
    assert a["connections"][0]["completions"] is None
    assert b["content_errors"] == 0


@pytest.fixture(name="narrow")
def a_namespace_with_small_windows():
    """Words before a command in it: most of 1 MiB waits at its sender, by reference, when send returns."""
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && "
                               "sysctl -qw 'net.ipv4.tcp_rmem=4096 65536 65536' && echo up && read end"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout.readline() == "up\n"
        yield Host(holder, "127.0.0.1").inside()


@needs_root
@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_reused_buffer_is_caught_by_the_content_check(pattern, narrow):
    # On one processor, a receiver that may preempt takes each message before its sender can overwrite it.
    patient = ("chrt", "--batch", "0")
    shared = ("--pattern", pattern, "--messages", 40, "--json")
    with server("A3-reuse", "1M", "--clients", 1, *shared, prefix=narrow) as a:
        with client(a, "1M", 1, *shared, prefix=(*narrow, *patient)) as receiver:
            a.totals()
            b = receiver.totals()
    assert b["received_bytes"] == 40 << 20
    assert b["content_errors"] > 0


@pytest.mark.parametrize("variant", names("variants", overwrites=False, datagrams=False, tls=False))
def test_a_peer_that_pauses_costs_nothing_but_time(variant):
    # Longer than the time-outs of blocking calls, with buffers full: partial sends.
    shared = ("--messages", 24, "--json")
    with server(variant, "1M", "--clients", 1, *shared) as a:
        with client(a, "1M", 1, *shared, go=False) as b:
            b.go()
            time.sleep(0.01)
            b.process.send_signal(signal.SIGSTOP)
            time.sleep(0.25)
            b.process.send_signal(signal.SIGCONT)
            sent, received = a.totals(), b.totals()
    assert sent["accepted_bytes"] == received["received_bytes"] == 24 << 20
    assert received["content_errors"] == 0


@pytest.fixture(name="unprivileged")
def fixture_unprivileged():
    """Returns a function from a memlock limit to what makes End run under it."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user without CAP_IPC_LOCK")
    # The checkout may lie where other users cannot go. The limit is per user: take a lone one.
    folder = tempfile.mkdtemp(prefix="workload-")
    os.chmod(folder, 0o755)
    program = shutil.copy(WORKLOAD, folder)
    user = 100000 + os.getpid() % 100000

    def options(memlock_bytes):
        return {"program": program, "prefix": (
            "prlimit", f"--memlock={memlock_bytes}:{memlock_bytes}",
            "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")}
    yield options
    shutil.rmtree(folder)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", ["A3", "A3-aligned", "A3-unreaped"])
def test_enobufs_is_counted_and_loses_no_data(unprivileged, variant, threads):
    # Room for one send of 65,536 bytes (18 pages by the kernel's reckoning), not for two.
    a, b = run_pair(variant, 65536, threads, "stream", "recv", 2000, unprivileged(32 * 4096))
    assert a["enobufs"] > 0
    assert a["accepted_bytes"] == b["received_bytes"] == 2000 * 65536
    assert a["content_errors"] == b["content_errors"] == 0


def test_sends_of_a_ring_wait_for_pages_that_others_pin(unprivileged):
    # The kernel refuses with ENOMEM what does not fit (io_notif_account_mem); the workload sends it again. Since
    # 6.14 the rings count, too.
    a, b = run_pair("uring-zc", 65536, 4, "stream", "recv", 200, unprivileged(64 * 4096))
    assert a["zerocopy_sends"] == a["completions"] >= 200 and a["completion_errors"] == 0
    assert a["accepted_bytes"] == b["received_bytes"] == 200 * 65536
    assert b["content_errors"] == 0


def test_memory_that_may_not_be_registered_is_an_error_not_a_hang(unprivileged):
    done = run_plain("server", "uring-zc-fixed", "1M", "--clients", 1, "--port", 0, **unprivileged(32 * 4096))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "cannot register" in done.stderr and "RLIMIT_MEMLOCK" in done.stderr


def test_what_four_connections_register_leaves_room_under_the_usual_limit(unprivileged):
    """Messages of 4,096 bytes touch two pages each: as many as fill 1 MiB are registered."""
    a, b = run_pair("uring-zc-fixed", 4096, 4, "stream", "recv", 200, unprivileged(8 << 20))
    assert a["accepted_bytes"] == b["received_bytes"] == 200 * 4096 and b["content_errors"] == 0


@pytest.mark.parametrize("variant", ["uring", "uring-zc"])
def test_a_kernel_that_refuses_rings_is_told_in_one_line_before_anything_starts(variant):
    done = run_plain("server", variant, 64, "--port", 0, preexec_fn=forbid("io_uring_setup", error=errno.EPERM))
    assert done.returncode == 3 and done.stdout == ""
    assert re.fullmatch(rf"workload: variant {variant} needs io_uring, which this kernel refuses: .*\n", done.stderr)


@pytest.mark.parametrize("variant", ["A3", "A3-unreaped"])
def test_a_limit_below_one_send_is_an_error_not_a_hang(unprivileged, variant):
    with server(variant, 65536, "--clients", 2, "--messages", 9, **unprivileged(8 * 4096)) as a:
        with client(a, 65536, 2) as b:
            code, out, err = a.finish(5)
            b.finish(5)
    assert code == 1
    assert len(err.splitlines()) == 1
    assert "RLIMIT_MEMLOCK" in err and "net.core.optmem_max" in err
    assert "messages        0" in out


def test_enobufs_may_end_the_connection(unprivileged):
    a, b = run_pair("A3-unreaped", 65536, 2, "stream", "recv", 20000, unprivileged(32 * 4096),
                    ("--behaviours", "end-on-enobufs"))
    assert [each["enobufs"] for each in a["connections"]] == [1, 1]
    assert a["accepted_bytes"] == b["received_bytes"] < 20000 * 65536
    assert a["content_errors"] == b["content_errors"] == 0


def test_enobufs_may_be_slept_over_whatever_is_outstanding(unprivileged):
    a, b = run_pair("A3-unreaped", 65536, 1, "stream", "recv", 200, unprivileged(32 * 4096),
                    ("--behaviours", "sleep-on-enobufs"))
    assert a["enobufs"] > 0
    assert a["accepted_bytes"] == b["received_bytes"] == 200 * 65536
    assert b["content_errors"] == 0


COMPLETIONS_TEST = r"""
#include <assert.h>
#include "userspace/workload/completions.h"

int main(void)
{
	struct completions c = { .frontier = 0xfffffff0ull };
	uint64_t sends = 0x100000010ull;

	assert(completions_mark(&c, sends, 0xfffffff0, 0xfffffff3) == 4);
	assert(c.frontier == 0xfffffff4);
	assert(completions_mark(&c, sends, 0xfffffff3, 0xfffffff3) == 0); /* twice */
	assert(completions_mark(&c, sends, 0xfffffff8, 2) == 11);         /* early, over the wrap */
	assert(c.frontier == 0xfffffff4);
	assert(completions_mark(&c, sends, 1, 1) == 0);                   /* twice, early */
	assert(completions_mark(&c, sends, 0xfffffff4, 0xfffffff7) == 4); /* closes the gap */
	assert(c.frontier == 0x100000003ull);
	assert(completions_mark(&c, sends, 3, 0x10) == 0);                /* 0x10 was not sent */
	assert(completions_mark(&c, sends, 3, 0xf) == 13);
	assert(c.frontier == sends && c.n_early == 0);
	return 0;
}
"""


def test_completion_ids_wrap_and_come_early_but_never_twice(tmp_path):
    source, program = tmp_path / "marks.c", tmp_path / "marks"
    source.write_text(COMPLETIONS_TEST)
    parts = [ROOT / "userspace" / "workload" / name for name in
             ("completions.c", "stream/fail.c", "stream/process.c", "stream/stop.c")]
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{ROOT}", source, *parts, "-o",
                    program], check=True, timeout=TIMEOUT_S)
    assert subprocess.run([program], timeout=TIMEOUT_S, check=False).returncode == 0
