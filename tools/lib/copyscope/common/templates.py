# SPDX-License-Identifier: GPL-2.0
"""Templates of HTML pages, as all tools have them: they escape all text, and miss no name."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import lacks_module

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(folder: Path) -> Environment:
    """Those of a folder, beside the frame of all pages."""
    try:
        # Not before it is needed: help needs no module of others.
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise lacks_module(error) from None
    return Environment(loader=FileSystemLoader([folder, Path(__file__).parent]), autoescape=True,
                       trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
                       keep_trailing_newline=True)
