# SPDX-License-Identifier: GPL-2.0
"""Checks documents against the schema of their kind, by functions that make compiled, or else now.

fastjsonschema takes half a second for the schema of a record, more than all else of most commands.
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


def place_of(kind: str, dropped: tuple[str, ...], schema: bytes) -> Path:
    """Where make leaves the function, by all that it is made of."""
    import fastjsonschema  # pylint: disable=import-outside-toplevel
    made_of = zlib.crc32(b"\0".join((schema, Path(__file__).read_bytes(), repr(dropped).encode(),
                                     fastjsonschema.VERSION.encode(), sys.version.encode())))
    return BUILD / "checkers" / f"{kind}-{made_of:08x}"


def compiled(kind: str, dropped: tuple[str, ...], schema: bytes) -> Any:
    """The code that defines the function."""
    import fastjsonschema  # pylint: disable=import-outside-toplevel
    try:
        parts = in_small_parts(of_any_version(json.loads(schema), dropped))
    except ValueError:
        raise Refused(f"{kind}.schema.json: cannot be read: install copyscope again") from None
    return compile(fastjsonschema.compile_to_code(parts), f"<{kind}>", "exec")


@functools.cache
def checker(kind: str, dropped: tuple[str, ...]) -> Callable[[Any], Any]:
    """A function that checks documents of a kind against docs/KIND.schema.json, but for what these
    keywords say."""
    try:
        import fastjsonschema  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError as error:
        raise lacks_module(error) from None
    schema = schema_of(kind)
    try:
        code = marshal.loads(place_of(kind, dropped, schema).read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        code = compiled(kind, dropped, schema)
    defined: dict[str, Any] = {}
    exec(code, defined)  # pylint: disable=exec-used
    return defined["validate"]


def main(_words: list[str]) -> int:
    """Compile what make does, in place of what it did before."""
    try:
        for number, (kind, dropped) in enumerate(COMPILED):
            schema = schema_of(kind)
            file = place_of(kind, dropped, schema)
            if not number and file.parent.is_dir():
                for old in file.parent.iterdir():
                    old.unlink()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(marshal.dumps(compiled(kind, dropped, schema)))
    except ImportError:
        # make setup was not run yet; each command that needs the module says so.
        pass
    return 0
