# SPDX-License-Identifier: GPL-2.0
"""Programs whose language copies a file to a socket for them: it is spliced without being asked."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from helpers.foreign import free_port, serving
from helpers.records import needs_root
from helpers.windows import Watching
from host.test_watch_servers import BODY, all_of, bytes_of, closed

pytestmark = needs_root
DATA = Path(__file__).resolve().parents[1] / "data"


def of_go(folder: Path) -> list:
    """io.Copy of a file to a connection, compiled."""
    subprocess.run(["go", "build", "-o", folder / "serve", DATA / "serve_file.go"], check=True, cwd=folder,
                   env=os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"})
    return [folder / "serve"]


def of_java(_: Path) -> list:
    """FileChannel.transferTo, compiled as it starts."""
    return ["java", DATA / "ServeFile.java"]


@pytest.mark.parametrize("language, program", [("go", of_go), ("java", of_java)])
def test_a_language_splices_a_file_that_it_copies_to_a_socket(tmp_path, language, program):
    if not shutil.which(language):
        pytest.skip(f"no program of the name {language} is on this machine")
    port, file = free_port(), tmp_path / "file"
    file.write_bytes(bytes(BODY))
    with serving(port, *program(tmp_path), port, file) as server:
        watching = Watching("-p", server.pid)
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert all_of(client) == BODY
        found = bytes_of(closed(watching), server.pid)
    assert found["accepted_bytes"] == found["tx_splice"] == BODY
    assert found["tx_copy"] == found["returned_bytes"] == 0
