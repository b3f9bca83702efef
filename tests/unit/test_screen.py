# SPDX-License-Identifier: GPL-2.0
"""A live view takes the terminal in front alone, never waits for it, and gives it back as it was."""
from __future__ import annotations

import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Callable
from fcntl import ioctl

import pytest

from copyscope.dispatch import screen
from copyscope.dispatch.screen import CLEAR_BELOW, ENTER, LEAVE, Screen, dressed
from copyscope.report.page import BAD, END, Tinted

PAGE = ["head", "ä line that is longer than the screen", "third", "fourth"]
COLUMNS, LINES = 20, 3
PATIENCE_S = 60


def on_a_terminal(act: Callable[[], bool | None]) -> tuple[int, int]:
    """A process that does this on a terminal of its own, and the other side of that."""
    child, master = pty.fork()
    if not child:
        status = 9
        try:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            signal.alarm(PATIENCE_S)
            status = act() is False
        finally:
            os._exit(status)
    return child, master


def read_to_the_end(child: int, master: int) -> bytes:
    """All that it wrote; it must have ended well."""
    parts = []
    try:
        while part := os.read(master, 65536):
            parts.append(part)
    except OSError:
        pass
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return b"".join(parts)


def modes() -> list:
    """Of the terminal now."""
    return termios.tcgetattr(screen.KEYBOARD)


def test_it_clears_draws_and_gives_back_and_can_be_hidden_between():
    def act() -> None:
        was = modes()
        ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        one = Screen()
        for _ in range(2):
            assert one.take() and not one.take() and not modes()[3] & (termios.ICANON | termios.ECHO)
            one.draw(PAGE)
            assert not one.is_resized()
            ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", LINES + 1, COLUMNS, 0, 0))
            assert one.is_resized()
            ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            assert not one.left and one.give_back() and modes() == was
        one.is_hidden = True
        assert not one.take() and modes() == was
    said = read_to_the_end(*on_a_terminal(act))
    # Cut to the screen: a character of two bytes takes one column. The terminal adds \r to \n.
    page = "\x1b[Hhead\x1b[K\r\r\nä line that is longe\x1b[K\r\r\nthird\x1b[K".encode()
    assert said == 2 * (ENTER + page + CLEAR_BELOW.encode() + LEAVE)


def test_a_line_has_its_look_where_colours_are_taken_and_its_width_is_that_of_its_letters():
    line, = Tinted.of(BAD, ["abcdef"])
    assert dressed(line, 4, True) == f"{BAD}abcd{END}" and dressed(line, 4, False) == dressed("abcd", 4, True) == "abcd"


def test_a_key_is_read_at_once_and_ctrl_z_and_ctrl_s_are_keys():
    def act() -> bool:
        one = Screen()
        one.take()
        typed = b""
        while len(typed) < 3:
            typed += one.typed()
        one.give_back()
        return typed == b"b\x1a\x13"
    child, master = on_a_terminal(act)
    assert os.read(master, len(ENTER)) == ENTER
    os.write(master, b"b\x1a\x13")
    read_to_the_end(child, master)


def test_it_never_waits_for_the_terminal():
    def act() -> bool:
        one, stuck = Screen(), 0
        one.take()
        # What lies in its buffers makes room a little later.
        while stuck < 50:
            one.draw(["x" * 200] * 24)
            stuck = stuck + 1 if one.left else 0
            select.select([], [], [], stuck * 0.0001)
        return not one.give_back()
    child, master = on_a_terminal(act)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(master)


def test_in_the_background_it_shows_nothing():
    def act() -> None:
        other = os.fork()
        if not other:
            signal.pause()
        try:
            os.setpgid(other, other)
            os.tcsetpgrp(0, other)
            one, was = Screen(), modes()
            assert not one.take()
            one.draw(PAGE)
            assert not one.is_shown and modes() == was
            os.tcsetpgrp(0, os.getpgrp())
            assert one.take() and one.is_shown
            os.tcsetpgrp(0, other)
            assert not one.take() and not one.is_shown
        finally:
            os.kill(other, signal.SIGKILL)
    assert read_to_the_end(*on_a_terminal(act)) == ENTER + LEAVE


@pytest.mark.parametrize("kind, possible", [("xterm", True), ("dumb", False), ("", False), (None, False)])
def test_a_dumb_terminal_is_none(kind, possible, monkeypatch):
    monkeypatch.delenv("TERM", raising=False)
    if kind is not None:
        monkeypatch.setenv("TERM", kind)
    read_to_the_end(*on_a_terminal(lambda: screen.is_possible() == possible))


def test_a_pipe_is_none(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    reader, writer = os.pipe()

    def act() -> bool:
        os.dup2(writer, 1)
        return not screen.is_possible()
    read_to_the_end(*on_a_terminal(act))
    os.close(reader)
    os.close(writer)
