# SPDX-License-Identifier: GPL-2.0
"""Makes Python of a schema that tells whether a document fits, and not where it does not.

fastjsonschema says where, and raises an exception for each way of several that a part is not:
of 10,000 sockets a million. All but a few documents fit.
"""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any

# What each test is of stands in place of {0}: a name, so that it may stand there often.
TYPES = {"null": "{0} is None", "boolean": "type({0}) is bool", "string": "type({0}) is str",
         "integer": "type({0}) is int or type({0}) is float and {0}.is_integer()",
         "number": "type({0}) in (int, float)", "array": "type({0}) is list",
         "object": "type({0}) is dict"}
NUMBERS = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
LENGTHS = {"minLength": ("str", ">="), "maxLength": ("str", "<="), "minItems": ("list", ">="),
           "maxItems": ("list", "<="), "minProperties": ("dict", ">=")}
# Of values of these types alone a bound needs no look at the type.
BOUNDED = {"integer", "number", "null"}
OF_TABLES = ("required", "properties", "additionalProperties", "propertyNames")
OF_LISTS = ("items", "contains", "uniqueItems")
OF_SEVERAL = ("not", "allOf", "anyOf", "oneOf", "if")
SAY_NOTHING = ("description", "title", "$comment", "$schema", "$defs", "then", "else")


class Source:
    """The functions that a schema comes to: one for each definition, table and list."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.names: dict[str, str] = {}
        self.lines = ["import re", "NONE = object()"]
        self.lines.append(f"def fits(x):\n    return {self.test(schema, 'x')}")

    def named(self, key: str, write: Callable[[str], list[str]]) -> str:
        """The name of the function that `write` makes, each once; a definition may use itself."""
        if key not in self.names:
            name = self.names[key] = f"f{len(self.names)}"
            self.lines.append("\n    ".join([f"def {name}(x):", *write(name)]))
        return self.names[key]

    def test(self, part: Any, of: str, there: frozenset[str] = frozenset()) -> str:
        """An expression that is true if what `of` names fits; `there`: keys that it has, if it is
        known to be a table."""
        if isinstance(part, bool):
            return str(part)
        if "$ref" in part:
            # As fastjsonschema, which heeds nothing that stands beside it.
            place = part["$ref"].removeprefix("#/").split("/")
            meant = functools.reduce(lambda node, key: node[key], place, self.schema)
            if not {"$ref", *OF_TABLES, *OF_LISTS, *OF_SEVERAL} & meant.keys():
                return f"({self.test(meant, of)})"
            made = self.named(part["$ref"], lambda _: [f"return {self.test(meant, 'x')}"])
            return f"{made}({of})"
        known = {*OF_TABLES, *OF_LISTS, *OF_SEVERAL, *SAY_NOTHING}
        found = [test for key, value in part.items() if key not in known
                 for test in self.keyword(key, value, part, of)]
        for keys, write in ((OF_TABLES, self.table), (OF_LISTS, self.list)):
            mine = {key: part[key] for key in keys if key in part}
            if mine.keys() == {"properties"} and mine["properties"].keys() <= there:
                # A call of a function takes longer than these tests.
                found += [self.test(value, f"{of}[{key!r}]")
                          for key, value in mine["properties"].items()]
            elif mine:
                made = self.named(json.dumps(mine), lambda name, m=mine, w=write: w(name, m))
                found.append(f"{made}({of})")
        if part.get("type") == "object":
            there |= frozenset(part.get("required", []))
        found += [self.several(key, part[key], part, of, there) for key in OF_SEVERAL
                  if key in part]
        return " and ".join(f"({each})" for each in found) or "True"

    def keyword(self, key: str, value: Any, part: dict[str, Any], of: str) -> list[str]:
        """What one keyword asks, if it is not of tables, lists or several schemas."""
        named = part.get("type", [])
        kinds = named if isinstance(named, list) else [named]
        if key == "type":
            return [" or ".join(TYPES[each] for each in kinds).format(of)]
        if key == "const":
            return [f"{of} == {value!r}"]
        if key == "enum":
            return [f"{of} in {value!r}"]
        if key in NUMBERS:
            other = f"not isinstance({of}, (int, float))" if not kinds or set(kinds) - BOUNDED \
                else f"{of} is None"
            return [f"{other} or {of} {NUMBERS[key]} {value!r}"]
        if key in LENGTHS:
            kind, how = LENGTHS[key]
            return [f"type({of}) is not {kind} or len({of}) {how} {value!r}"]
        if key == "pattern":
            # $ of JSON Schema is the end, and not before a line's end.
            pattern = re.sub(r"(?<!\\)\$", r"\\Z", value)
            return [f"type({of}) is not str or re.search({pattern!r}, {of})"]
        raise ValueError(f"a schema has the keyword {key}, which is not known here")

    def several(self, key: str, value: Any, part: dict[str, Any], of: str,
                there: frozenset[str]) -> str:
        """What a keyword asks that makes one of other schemas."""
        if key == "not":
            return f"not ({self.test(value, of, there)})"
        if key == "if":
            then, other = (self.test(part.get(each, True), of, there) for each in ("then", "else"))
            return f"({then}) if {self.test(value, of, there)} else ({other})"
        tests = [self.test(each, of, there) for each in value]
        if key == "oneOf":
            return " + ".join(f"bool({each})" for each in tests) + " == 1"
        return (" and " if key == "allOf" else " or ").join(f"({each})" for each in tests)

    def table(self, name: str, part: dict[str, Any]) -> list[str]:
        """What is asked of a table; of another value nothing."""
        known, more = part.get("properties", {}), part.get("additionalProperties", True)
        said = ["if type(x) is not dict: return True"]
        if more is False:
            self.lines.append(f"KNOWN_{name} = frozenset({list(known)!r})")
            said.append(f"if not x.keys() <= KNOWN_{name}: return False")
        if "propertyNames" in part:
            said.append(f"if not all({self.test(part['propertyNames'], 'v')} for v in x): "
                        "return False")
        asked = [f"    v = x[{key!r}]\n        if not ({self.test(known.get(key, True), 'v')}): "
                 "return False" for key in part.get("required", [])]
        if asked:
            said += ["try:", *asked, "except KeyError:", "    return False"]
        for key, value in known.items():
            if key not in part.get("required", []) and (test := self.test(value, "v")) != "True":
                said += [f"v = x.get({key!r}, NONE)",
                         f"if v is not NONE and not ({test}): return False"]
        if (test := self.test(more, "v")) != "True" and more is not False:
            said.append(f"if not all({test} for key, v in x.items() "
                        f"if key not in {list(known)!r}): return False")
        return [*said, "return True"]

    def list(self, _name: str, part: dict[str, Any]) -> list[str]:
        """What is asked of a list; of another value nothing."""
        said = ["if type(x) is not list: return True"]
        if "items" in part:
            said += ["for v in x:", f"    if not ({self.test(part['items'], 'v')}): return False"]
        if "contains" in part:
            said.append(f"if not any({self.test(part['contains'], 'v')} for v in x): return False")
        if part.get("uniqueItems"):
            # Elsewhere fastjsonschema decides.
            said.append("if not all(type(v) is str for v in x) or len(set(x)) < len(x): "
                        "return False")
        return [*said, "return True"]


def source(schema: dict[str, Any]) -> str:
    """A module whose fits() tells whether a document is by the schema."""
    return "\n".join(Source(schema).lines) + "\n"
