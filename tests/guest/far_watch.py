# SPDX-License-Identifier: GPL-2.0
"""In a guest: watches another one by ssh, as that one itself does, then ends such watches at random moments.

usage: far_watch.py KILLS SSH HOST COMMAND
COMMAND is what a shell there starts, of which all is counted. Leaves in /out far.json and own.json, the records of both
watches, and ends.json: how often a watch had opened its window when it was ended, and what was left of it there.
"""
from __future__ import annotations

import json
import random
import shlex
import signal
import subprocess
import sys
import time

SEED, PATIENCE_S = 46, 60
IN_TREE = "cd /copyscope && . /run/environment && "
# What far.sh makes, and the words of its collector.
LEFT = """ls -d /tmp/copyscope.* /var/tmp/copyscope.* /dev/shm/copyscope.* "$HOME"/copyscope.* 2>/dev/null
for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <"$each"; echo; done 2>/dev/null | grep -e '[-]-reader 1,0'; true"""


def there(ssh: str, host: str, command: str) -> str:
    """What a command there prints."""
    return subprocess.run([*shlex.split(ssh), host, command], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def watch(ssh: str, host: str, *words: str) -> subprocess.Popen:
    """A watch of all there."""
    return subprocess.Popen(["tools/copyscope", "watch", "--host", host, "--ssh", ssh, "--all", "--quiet", *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def opened(watching: subprocess.Popen) -> bool:
    """Whether its window opens."""
    return any("window is open" in line for line in watching.stderr)


def main() -> None:
    """Watch, then kill."""
    kills, ssh, host, command = int(sys.argv[1]), *sys.argv[2:]
    began = time.monotonic()
    watching = watch(ssh, host, "--json", "/out/far.json")
    if not opened(watching):
        sys.exit("far_watch: no window opened")
    start_s = time.monotonic() - began
    there(ssh, host, IN_TREE + command)
    watching.send_signal(signal.SIGINT)
    if watching.wait():
        sys.exit(f"far_watch: the watch ended with {watching.returncode}: {watching.stderr.read()}")
    own = there(ssh, host, f"{IN_TREE}build/watch --quiet --json /run/own.json -- {command} >/dev/null && cat /run/own.json")
    with open("/out/own.json", "w", encoding="utf-8") as file:
        file.write(own)
    dice, had_opened = random.Random(SEED), 0
    for number in range(kills):
        watching = watch(ssh, host)
        # The last is ended in its window; the others at any moment of a start, and a little later.
        if number == kills - 1:
            opened(watching)
        else:
            time.sleep(dice.uniform(0, 1.2 * start_s))
        watching.send_signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
        had_opened += number == kills - 1 or "window is open" in watching.communicate()[1]
        watching.wait()
    until, left = time.monotonic() + PATIENCE_S, there(ssh, host, LEFT)
    while left and time.monotonic() < until:
        time.sleep(0.2)
        left = there(ssh, host, LEFT)
    with open("/out/ends.json", "w", encoding="utf-8") as file:
        json.dump({"kills": kills, "opened": had_opened, "start_s": start_s, "left": left}, file)


if __name__ == "__main__":
    main()
