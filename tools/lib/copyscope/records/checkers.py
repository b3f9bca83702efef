# SPDX-License-Identifier: GPL-2.0
"""Checks documents against the schema of their kind, by functions that make compiled, or else now.

fits() is sure of nearly all documents. validate() decides of the others and says where they are
wrong: fastjsonschema takes half a second to make it of the schema of a record.
"""
from __future__ import annotations

import functools
import json
import marshal
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from copyscope.common.errors import Refused, lacks_module
from copyscope.common.tree import BUILD, DOCS

from . import fitting

# Keywords of a schema by which a document of another version differs: it may lack keys, or have
# more. What readers need of it all the same is for them to say.
MORE_KEYS = ("additionalProperties",)
OF_ONE_VERSION = ("required", "additionalProperties", "minItems", "maxItems", "contains")
# Keywords whose value is a schema for each name, and not keywords itself.
BY_NAME = ("properties", "$defs")
# Those that make compiles; the tests drop nothing.
COMPILED = (("record", OF_ONE_VERSION), ("record", MORE_KEYS), ("record", ()))


def of_any_version(schema: Any, dropped: Iterable[str] = OF_ONE_VERSION) -> Any:
    """The schema without the keywords in which versions of a document differ."""
    if isinstance(schema, list):
        return [of_any_version(each, dropped) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: {name: of_any_version(each, dropped) for name, each in inner.items()}
            if key in BY_NAME else of_any_version(inner, dropped)
            for key, inner in schema.items() if key not in dropped or
            # What it says of all other keys' values, rather than that there are none.
            key == "additionalProperties" and isinstance(inner, dict)}
    return {key: each for key, each in kept.items() if key not in ("then", "else") or each}


def in_small_parts(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, in which each table and each list is a definition. fastjsonschema makes a
    function of each: in one for all of a record, each exception has Python count lines up to where
    it was raised, and the name of each element of a list is made from all variables there."""
    parts: dict[str, Any] = {}

    def inside(part: dict[str, Any]) -> dict[str, Any]:
        return {key: {name: named(each) for name, each in inner.items()} if key in BY_NAME
                else named(inner) for key, inner in part.items()}

    def named(part: Any) -> Any:
        if isinstance(part, list):
            return [named(each) for each in part]
        if not isinstance(part, dict):
            return part
        found = inside(part)
        if "properties" not in found and "items" not in found:
            return found
        parts[f"part{len(parts)}"] = found
        return {"$ref": f"#/$defs/part{len(parts) - 1}"}
    # A reference may lead into a definition.
    defined = {name: inside(each) for name, each in schema.get("$defs", {}).items()}
    whole = inside({key: each for key, each in schema.items() if key != "$defs"})
    return {**whole, "$defs": {**defined, **parts}}


def schema_of(kind: str) -> bytes:
    """The schema of a kind of documents."""
    # Of the package that pip makes of the reader it lies in the package.
    own = Path(__file__).resolve().parents[1] / f"{kind}.schema.json"
    file = own if own.exists() else DOCS / own.name
    try:
        return file.read_bytes()
    except OSError:
        raise Refused(f"{file}: cannot be read: install copyscope again") from None


def fitting_source(parts: dict[str, Any]) -> str:
    """A module whose fits() tells whether a document is by a schema."""
    return fitting.source(parts)


def faults_source(parts: dict[str, Any]) -> str:
    """A module whose validate() raises where a document is not by it."""
    import fastjsonschema  # pylint: disable=import-outside-toplevel
    return str(fastjsonschema.compile_to_code(in_small_parts(parts)))


# What is made of each schema, and what it is made by.
MADE = {"fits": fitting_source, "validate": faults_source}


def place_of(kind: str, dropped: tuple[str, ...], schema: bytes, what: str) -> Path:
    """Where make leaves the function, by all that it is made of."""
    made_of = [schema, *(Path(each).read_bytes() for each in (__file__, fitting.__file__)),
               repr((what, dropped, sys.version)).encode()]
    if what == "validate":
        import fastjsonschema  # pylint: disable=import-outside-toplevel
        made_of.append(fastjsonschema.VERSION.encode())
    return BUILD / "checkers" / f"{kind}-{zlib.crc32(bytes(1).join(made_of)):08x}"


def compiled(kind: str, dropped: tuple[str, ...], schema: bytes, what: str) -> Any:
    """The code that defines the function."""
    try:
        parts = of_any_version(json.loads(schema), dropped)
    except ValueError:
        raise Refused(f"{kind}.schema.json: cannot be read: install copyscope again") from None
    return compile(MADE[what](parts), f"<{kind}>", "exec")


@functools.cache
def checker(kind: str, dropped: tuple[str, ...], what: str = "validate") -> Callable[[Any], Any]:
    """A function that checks documents of a kind against docs/KIND.schema.json, but for what these
    keywords say."""
    schema = schema_of(kind)
    try:
        try:
            code = marshal.loads(place_of(kind, dropped, schema, what).read_bytes())
        except (OSError, ValueError, EOFError, TypeError):
            code = compiled(kind, dropped, schema, what)
    except ImportError as error:
        raise lacks_module(error) from None
    defined: dict[str, Any] = {}
    exec(code, defined)  # pylint: disable=exec-used
    return defined[what]


def main(_words: list[str]) -> int:
    """Compile what make does, in place of what it did before."""
    folder = BUILD / "checkers"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    try:
        for what in MADE:
            for kind, dropped in COMPILED:
                schema = schema_of(kind)
                place_of(kind, dropped, schema, what).write_bytes(
                    marshal.dumps(compiled(kind, dropped, schema, what)))
    except ImportError:
        # make setup was not run yet; each command that needs the module says so.
        pass
    return 0
