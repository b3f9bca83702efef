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


def accepts(file: Path, record: dict) -> bool:
    """True if the product's own reader of schemas accepts a record: it takes a tenth of the time."""
    from fastjsonschema import JsonSchemaValueException  # pylint: disable=import-outside-toplevel

    from copyscope.records.checkers import checker  # pylint: disable=import-outside-toplevel

    try:
        checker(file.name.removesuffix(".schema.json"), ())(record)
    except JsonSchemaValueException:
        return False
    return True


def faults(file: Path, record: dict) -> list[str]:
    """What the schema has against a record: "where: what", nothing if all is well."""
    if accepts(file, record):
        return []
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(file).iter_errors(record)] or [
        "the two readers of schemas differ about it"]


def keys(file: Path) -> set[str]:
    """Every key that a schema describes, with its types: "tool.version string", or "enum"; [] of a list, * of any
    name."""
    schema, found = json.loads(file.read_text()), set()

    def look(node: dict | bool, at: str, above: tuple[str, ...]) -> None:
        if isinstance(node, bool):
            return
        reference = node.get("$ref", "")
        if reference and reference not in above:
            named = functools.reduce(lambda part, key: part[key], reference.split("/")[1:], schema)
            look(named, at, (*above, reference))
        for each in (*node.get("anyOf", []), *node.get("oneOf", []), *node.get("allOf", [])):
            look(each, at, above)
        kinds = node.get("type", ["enum"] if "enum" in node else [])
        found.update(f"{at} {kind}" for kind in (kinds if isinstance(kinds, list) else [kinds]) if at)
        for name, each in node.get("properties", {}).items():
            look(each, f"{at}.{name}".lstrip("."), above)
        look(node.get("items", False), f"{at}[]", above)
        look(node.get("additionalProperties", False), f"{at}.*".lstrip("."), above)

    look(schema, "", ())
    return found
