# SPDX-License-Identifier: GPL-2.0
"""Holds records against the JSON schemas of docs/."""
from __future__ import annotations

import functools
import json
from pathlib import Path


@functools.cache
def validator(file: Path):
    """A schema of records, itself checked."""
    # Here, because guests, whose records the host checks, do without.
    import jsonschema  # pylint: disable=import-outside-toplevel

    schema = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(file: Path, record: dict) -> list[str]:
    """What the schema has against a record: "where: what", nothing if all is well."""
    return [f"{error.json_path}: {error.message[:200]}"
            for error in validator(file).iter_errors(record)]
