# SPDX-License-Identifier: GPL-2.0
"""Start programs of the system: the system's own, and with nothing of the caller's environment."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

FOLDERS = "/usr/sbin:/usr/bin:/sbin:/bin"
# What says by which way the network is reached: no program is found by it.
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")


def find(name: str) -> str | None:
    """Where a program lies; for root in the system's folders alone, whatever PATH says."""
    wanted = FOLDERS if os.geteuid() == 0 else f"{os.environ.get('PATH', '')}:{FOLDERS}"
    return shutil.which(name, path=wanted)


def environment(**more: str) -> dict[str, str]:
    """All that a program of the system is told."""
    proxies = {name: os.environ[name] for name in PROXIES if name in os.environ}
    return {"LC_ALL": "C", "PATH": FOLDERS, **proxies, **more}


def start(words: list, *, more: dict[str, str] | None = None, **options) -> subprocess.Popen:
    """Start one: a name without a folder is looked for as find() does. What `more` names is told to
    it besides; descriptors stay here unless `pass_fds` names them."""
    program = str(words[0])
    path = program if os.sep in program else find(program)
    if not path:
        raise FileNotFoundError(2, "not installed", program)
    return subprocess.Popen([path, *map(str, words[1:])], env=environment(**(more or {})),
                            **options)


def run(words: list, *, more: dict[str, str] | None = None,
        cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Start one, wait for its end, and keep what it said as text."""
    with start(words, more=more, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
               text=True) as process:
        said, complained = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, said, complained)
