# SPDX-License-Identifier: GPL-2.0
"""Makes command lines out of good ones: words dropped, doubled, swapped, replaced by bad ones."""
from __future__ import annotations

from random import Random

# Numbers around every limit, words of other tools, control characters, bytes that are no text.
# No folder that exists is among them: some cases run as root.
NASTY = ["", " ", "-", "--", "---", "=", ",", ":", "/", "-1", "0", "1", "2", "7", "8", "64", "1024",
         "1025", "65535", "65536", "65M", "1k", "1K", "1M", "1G", "1kk", "k", "+5", " 5", "5 ",
         "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615",
         "18446744073709551616", "99999999999999999999999", "1e9", "1e-9", "0.000001", "1e400",
         "nan", "inf", "-inf", "0x10", "0b1", "1_000", "\u0661\u0662", "\u00b2", "NaN", "None",
         "\n", "a\nb", "\r", "\t", "\x1b[2J\x1b[31mred", "\x07", "\x7f", "\x9b31m", "\u202e",
         "\udcff\udcfe", "%s%n%s%n", "%1000000d", "'; reboot; '", "$(reboot)", "`reboot`", "a,b",
         "a,,b", ",a", "a,", "../../nowhere/x", "no/such/folder/x.json", "/dev/null", "/dev/full",
         "A" * 300, "A" * 5000, "/" * 4097, "9" * 400, "A" * 100_000, "10.0.0.1",
         "10.0.0.1,10.0.0.2/24", "10.0.0.1,10.0.0.2/33", "fd00::1,fd00::2/64", "fe80::1%lo",
         "127.0.0.1:0", "[::1]:9009", "localhost", "lo", "veth", "veth0,veth1", "a/b,c",
         "--help", "-h", "-q", "--json", "--json=-", "--opt=--", "--=", "--path=lo", "A3", "A9",
         "stream", "rr", "all", "true", "[]", "{}", "null"]


def nasty(dice: Random) -> str:
    """One bad word: from the list, or two of the list joined."""
    first = dice.choice(NASTY)
    return first if dice.random() < 0.8 else first + dice.choice([",", "=", "", ":"]) \
        + dice.choice(NASTY)[:50]


def damage(words: list[str], options: list[str], dice: Random) -> list[str]:
    """The words with one to three things done to them."""
    words = list(words)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        at = dice.randrange(len(words) + 1)
        act = dice.randrange(8)
        if act == 0 and words:
            del words[min(at, len(words) - 1)]
        elif act == 1:
            words.insert(at, nasty(dice))
        elif act in (2, 3) and words:
            words[min(at, len(words) - 1)] = nasty(dice)
        elif act == 4:
            words[at:at] = [dice.choice(options), nasty(dice)]
        elif act == 5:
            words.insert(at, f"{dice.choice(options)}={nasty(dice)}")
        elif act == 6 and words:
            words.insert(at, dice.choice(words))
        elif act == 7:
            words.insert(at, dice.choice(options))
    # No word can hold a byte 0, and none is longer than the kernel takes.
    return [word.replace("\0", "")[:120_000] for word in words]
