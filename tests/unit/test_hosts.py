# SPDX-License-Identifier: GPL-2.0
"""A sweep of several hosts: which names a file may have, and from which size a variant is said to pay."""
from __future__ import annotations

import pytest

from copyscope.common.errors import Unusable
from copyscope.common.spread import Spread
from copyscope.runs import hosts
from copyscope.runs.pairs import Pair

FASTER, SLOWER, SAME, WIDE = (Spread(1.5, 1.2, 1.8, 6), Spread(0.5, 0.4, 0.6, 6), Spread(1.0, 0.99, 1.01, 6),
                              Spread(1.04, 0.225, 2.69, 6))
SIZES = (64, 4096, 65536)


def test_a_host_a_line_and_comments(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("lab2\n\n# the old ones\n  root@lab3.example  # beside the door\n[fe80::1%eth0]\n")
    assert hosts.read(file) == ["lab2", "root@lab3.example", "[fe80::1%eth0]"]


@pytest.mark.parametrize(("text", "said"), [
    ("", "0 hosts"), ("lab2\nlab2\n", "lab2 stands there twice"), ("-oProxyCommand=x\n", "is no [USER@]HOST"),
    ("lab2 lab3\n", "is no [USER@]HOST"), ("../lab2\n", "is no [USER@]HOST"), ("lab2;x\n", "is no [USER@]HOST"),
    ("".join(f"lab{number}\n" for number in range(hosts.MOST + 1)), "1001 hosts, 1 to 1000")])
def test_what_names_no_host_is_one_line(tmp_path, text, said):
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(Unusable, match=said.replace("[", r"\[")):
        hosts.read(file)


@pytest.mark.parametrize(("ratios", "said"), [
    ((SLOWER, SAME, FASTER), "from 64 KiB"), ((SAME, FASTER, FASTER), "from 4 KiB"),
    ((FASTER, FASTER, FASTER), "at 64 B and above"), ((SLOWER, SLOWER, SLOWER), "at no size: slower"),
    ((SAME, SAME, SAME), "at no size: alike"), ((WIDE, WIDE, WIDE), "at no size: undecided"),
    ((SAME, WIDE, SAME), "not at the largest size"), ((FASTER, FASTER, SAME), "not at the largest size"),
    ((SAME, SAME, Spread(1.5, 1.5, 1.5, 1)), "not known: one round has no interval")])
def test_a_variant_pays_from_a_size_on_if_it_is_faster_at_each_larger_one(ratios, said):
    found = [Pair("A3", "A1", size, 1, SAME, ratio) for size, ratio in zip(SIZES, ratios)]
    assert hosts.pays(found) == hosts.pays(found[::-1]) == said
