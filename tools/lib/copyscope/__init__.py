# SPDX-License-Identifier: GPL-2.0
"""The Python behind the commands in tools/; for notebooks, what reads records (reader.py)."""

READER = ("Run", "Service", "Site", "Watch", "frame", "read", "read_all", "rows")


def __getattr__(name: str) -> object:
    """Load the reader when it is asked for: a watch begins before anything is imported."""
    if name in READER:
        # pylint: disable-next=import-outside-toplevel
        from . import reader
        return getattr(reader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
