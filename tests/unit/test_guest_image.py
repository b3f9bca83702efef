# SPDX-License-Identifier: GPL-2.0
"""What the guest's image makes of a kernel's modules."""
from __future__ import annotations

import subprocess

from copyscope.guest.image import Modules

# What lies before the section ends in a letter: its first string follows no null byte.
SOURCE = """
char before[] __attribute__((section(".before"), aligned(1))) = { 'x' };
char info[] __attribute__((section(".modinfo"), aligned(1))) = "alias=first\\0depends=%s\\0alias=second";
char after[] __attribute__((section(".after"), aligned(1))) = "\\0alias=of-no-module";
"""


def test_each_alias_of_a_module_is_found_and_no_other(tmp_path):
    folder = tmp_path / "kernel/net"
    folder.mkdir(parents=True)
    for name, needed in (("macvlan", "veth"), ("veth", "")):
        source = tmp_path / f"{name}.c"
        source.write_text(SOURCE % needed)
        subprocess.run(["gcc", "-c", source, "-o", folder / f"{name}.ko"], check=True)
    modules = Modules(tmp_path)
    assert modules.alias() == "".join(f"alias {alias} {name}\n" for name in ("macvlan", "veth") for alias in ("first", "second"))
    assert modules.dep() == "kernel/net/macvlan.ko: kernel/net/veth.ko\nkernel/net/veth.ko: \n"
