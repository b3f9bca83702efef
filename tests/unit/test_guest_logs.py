# SPDX-License-Identifier: GPL-2.0
"""However many guests come and go beside it, the log of one that runs stays: by it tools/guest knows that it runs."""
from __future__ import annotations

from copyscope.guest import machine


def test_the_log_of_a_guest_that_runs_is_not_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "LOGS", tmp_path)
    log, lock = machine.new_log("6.1")
    complaints = log.with_suffix(".qemu")
    complaints.write_text("")
    for number in range(2 * machine.KEEP_LOGS):
        machine.new_log(f"ended-{number}")[1].close()
    assert log.exists() and complaints.exists()
    lock.close()
    machine.new_log("6.12")[1].close()
    assert not log.exists() and not complaints.exists()
    # The newest is made after the others are counted.
    assert len(list(tmp_path.iterdir())) == machine.KEEP_LOGS + 1
