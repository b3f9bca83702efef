# SPDX-License-Identifier: GPL-2.0
"""Every option that a message names is there: of the command that says it, or of one that the message names."""
from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.help_texts import help_of

ROOT = Path(__file__).resolve().parents[2]
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*[a-z0-9]")
MODULE = re.compile(r'^launch\.run\("([\w.]+)"', re.MULTILINE)
TOOLS = {file.name: found[1] for file in sorted((ROOT / "tools").iterdir()) if file.is_file() and not file.suffix
         for found in [MODULE.search(file.read_text(encoding="utf-8"))] if found}
# Programs in C: their sources, and what starts them.
PROGRAMS = {"trace_run": ("userspace/run", "userspace/peer", "userspace/path", "userspace/trace_run.c"),
            "watch": ("userspace/watch", "userspace/watch.c"),
            "workload": ("userspace/workload", "userspace/workload.c"),
            "baseline": ("studies/baseline",)}
# Of both a run and a watch.
SHARED = ("userspace/engine", "userspace/judge", "userspace/report", "userspace/common", "userspace/record")
# What copyscope tells its own processes, what tests break a program by, and what programs of others are told.
OF_OTHERS = {"--far-half", "--role", "--break", "--mount-proc", "--fork", "--no", "--cap-add", "--privileged", "--map-auto", "--net", "--security-opt", "--pid",
             "--recv-queue", "--name-only"}


def options_of(*words: str) -> set[str]:
    """The options of a tool, or of one of its words."""
    return set(OPTION.findall(help_of(*words)))


@functools.cache
def of_tool(name: str) -> frozenset[str]:
    """The options of a tool and of its words."""
    words = {"claims": ("list", "show", "check", "run", "report", "fix"),
             "baseline": ("mistakes", "agree", "plot", "keep"), "records": ("list", "show"),
             "workload": ("server", "client")}.get(name, ())
    return frozenset().union(options_of(name), *(options_of(name, word) for word in words),
                             options_of("trace_run") if name == "peers" else ())


def named_by(text: str) -> frozenset[str]:
    """The options of the commands that a message names."""
    words = set(re.findall(r"[a-z_]+", text))
    tools = [*TOOLS, *PROGRAMS, "setup"]
    also = {"run": "trace_run", "show": "records", "list": "records", "runs": "trace_run"}
    meant = [each for each in tools if each in words] + [tool for word, tool in also.items() if word in words]
    return frozenset().union(*(of_tool(each) for each in meant))


def said(node: ast.AST) -> bool:
    """What is raised, or passed on to be told."""
    return isinstance(node, ast.Raise) or isinstance(node, ast.Call) and \
        getattr(node.func, "id", getattr(node.func, "attr", "")) in ("complain", "refuse", "error", "warn")


def literals(file: Path) -> Iterator[str]:
    """The texts of a Python module's messages; parts that are put in are left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = [part for node in ast.walk(tree) if said(node) for part in ast.walk(node)]
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in {id(node): node for node in nodes}.values():
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def strings(file: Path) -> Iterator[str]:
    """The texts of a C file; those that follow each other are one."""
    text = re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if not line.lstrip().startswith(("#include", "*", "/*")):
            yield from (each for each in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if " " in each)


def sources(*places: str) -> list[Path]:
    """The C files at these places."""
    found = [each for place in places for each in
             ((ROOT / place).rglob("*.[ch]") if (ROOT / place).is_dir() else [ROOT / place])]
    return sorted(found)


def lost(file: Path, texts: Iterator[str], there: frozenset[str]) -> list[str]:
    """Options that the texts name and nobody has."""
    return [f"{file.relative_to(ROOT)}: {option} in {text[:90]!r}" for text in texts
            for option in set(OPTION.findall(text)) - there - OF_OTHERS - named_by(text)]


# What others wrote is imported once for all tools.
BEHIND = """import importlib, json, sys
sys.path[:0] = ["tools/lib", "studies/lib"]
found = {}
for name, module in json.loads(sys.argv[1]).items():
    importlib.import_module(module)
    ours = [each for each in sys.modules if each.partition(".")[0] in ("copyscope", "copyscope_studies")]
    found[name] = [file for file in (sys.modules.pop(each).__file__ for each in ours) if file]
print(json.dumps(found))
"""


def modules_behind() -> dict[str, list[Path]]:
    """The modules of the tree that each tool imports when it starts."""
    done = subprocess.run([sys.executable, "-c", BEHIND, json.dumps(TOOLS)], cwd=ROOT, capture_output=True, text=True, check=True)
    return {tool: [ROOT / file for file in files] for tool, files in json.loads(done.stdout).items()}


def test_options_that_python_names_are_there():
    found: dict[Path, set[str]] = {}
    for tool, files in modules_behind().items():
        for file in files:
            found.setdefault(file, set()).add(tool)
    # A module of several commands may say what one of them has.
    faults = [fault for file, tools in sorted(found.items())
              for fault in lost(file, literals(file), frozenset().union(*map(of_tool, tools)))]
    assert len(found) > 100 and not faults, "\n".join(faults)


@pytest.mark.parametrize("program", PROGRAMS)
def test_options_that_a_program_names_are_there(program):
    faults = [fault for file in sources(*PROGRAMS[program])
              for fault in lost(file, strings(file), of_tool(program))]
    assert not faults, "\n".join(faults)


def test_options_that_runs_and_watches_name_alike_are_of_one_of_them():
    both = of_tool("trace_run") | of_tool("watch")
    assert not [fault for file in sources(*SHARED) for fault in lost(file, strings(file), both)]


def test_an_option_that_is_not_there_would_be_found(tmp_path):
    file = tmp_path / "made.py"
    file.write_text("raise E(f'give --nowhere or --{x} and --devices', 'sweep --devices A,B')\nSAID = '--nobody-says-it'\n")
    texts = [text for text in literals(file) if set(OPTION.findall(text)) - named_by(text)]
    assert texts == ["give --nowhere or --{} and --devices"]


def phrases(file: Path) -> Iterator[str]:
    """What a Python module may print: its texts of five words or more, comments to its functions apart."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    comments = {id(node.body[0].value) for node in ast.walk(tree)
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr)}
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
             and isinstance(node.value, str) and id(node) not in comments)
    return (text.strip() for text in texts if len(text.split()) >= 5)


# Names of processes as a record has them, reasons of a record that the report looks for, and tables with meanings.
IN_RECORDS = {"names.c", "missing.py", "sites.h", "watch_record.h"}


def test_no_program_in_c_has_a_phrase_of_the_report():
    told = {text for file in (ROOT / "tools/lib/copyscope/report").glob("*.py") if file.name not in IN_RECORDS
            for text in phrases(file)}
    assert len(told) > 100
    assert not [f"{file.relative_to(ROOT)}: {text!r} has {phrase!r}" for file in sources("userspace", "bpf")
                if file.name not in IN_RECORDS | {"options.c"} and file.parent.name != "tables"
                for text in strings(file) for phrase in told if phrase in text]


def test_a_phrase_is_found_and_a_comment_is_none(tmp_path):
    file = tmp_path / "told.py"
    file.write_text('"""What is told of it."""\ndef f(n):\n    """How many of them."""\n    return f"copied all of it again, {n} times"\n')
    assert list(phrases(file)) == ["copied all of it again,"]
