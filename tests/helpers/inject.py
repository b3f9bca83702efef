# SPDX-License-Identifier: GPL-2.0
"""Has a running process make a system call, as code that took it over would."""
from __future__ import annotations

import ctypes
import os
import platform

from helpers.processes import LIBC

PTRACE_GETREGS, PTRACE_SETREGS, PTRACE_ATTACH, PTRACE_DETACH = 12, 13, 16, 17
# struct user_regs_struct of x86-64: 27 words.
WORDS = 27
RAX, RDX, RSI, RDI, ORIG_RAX, RIP = 10, 12, 13, 14, 15, 16
SYSCALL_BYTES = 2

possible = platform.machine() == "x86_64"


def ptrace(request: int, pid: int, data=None) -> None:
    """One ptrace() call that has to succeed."""
    LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    LIBC.ptrace.restype = ctypes.c_long
    if LIBC.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def system_call(pid: int, number: int, *arguments: int) -> None:
    """The process sleeps in a system call: once more into the kernel, but to another one."""
    ptrace(PTRACE_ATTACH, pid)
    os.waitpid(pid, 0x40000000)  # __WALL
    registers = (ctypes.c_ulong * WORDS)()
    ptrace(PTRACE_GETREGS, pid, registers)
    # Just behind the instruction that entered the kernel; -1: nothing is to be started again.
    registers[RIP] -= SYSCALL_BYTES
    registers[ORIG_RAX] = ctypes.c_ulong(-1).value
    registers[RAX] = number
    for place, value in zip((RDI, RSI, RDX), arguments):
        registers[place] = value
    ptrace(PTRACE_SETREGS, pid, registers)
    ptrace(PTRACE_DETACH, pid)
