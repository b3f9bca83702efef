# SPDX-License-Identifier: GPL-2.0
"""The table of words: what each starts, its line of help, its manual page, what may follow; and the
completion for shells that is made of it.
"""
from __future__ import annotations

import functools
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from copyscope.common.releases import SUITES
from copyscope.common.tables import BEHAVIOURS, PATHS, RECEIVERS, VARIANTS
from copyscope.common.text import nearest
from copyscope.common.tree import BUILD, INSTALLED, PROFILES, ROOT

TOOLS = ROOT / "tools"
CLAIMS = ROOT / "studies" / "claims"
FIXED = CLAIMS / "fixed.toml"
KERNELS = tuple(SUITES)


@dataclass(frozen=True)
class Word:
    """One word of copyscope."""

    name: str
    program: Path
    line: str
    page: str = ""  # its manual page, if that is not copyscope-NAME
    before: tuple[str, ...] = ()  # what the program is told before the user's words
    section: int = 1  # of the manual: 8 for what needs root
    # What may follow the word, and what may follow some of its options; elsewhere a file may.
    firsts: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)


# Told by the machine while one types: functions of the script, below.
RECORDS_HERE, COMMS, PIDS = "$(_copyscope_records)", "$(_copyscope_comms)", "$(_copyscope_pids)"
RUN_VALUES = {
    "--kernel": KERNELS, "--path": PATHS, "--pattern": ("stream", "rr"), "--receiver": RECEIVERS,
    "--behaviours": BEHAVIOURS, "--alternate": VARIANTS, "--pass": ("timed", "counted", "both"),
    "--backend": ("auto", "trampoline", "tracepoint"), "--role": ("sender", "receiver"),
}
PROFILE_NAMES = tuple(sorted(file.stem for file in PROFILES.glob("*.toml")))
REPORTS = tuple(sorted(file.stem.upper() for file in CLAIMS.glob("*.toml") if file != FIXED))
WATCH_VALUES = {"--comm": (COMMS,), "-p": (PIDS,), "--pid": (PIDS,), "--netns": (PIDS,),
                "--by": ("service", "process", "socket", "cgroup", "peer", "port"),
                "--sort": ("copied", "sent", "received", "avoidable", "cpu", "name"),
                "--books": ("sequence", "calls"),
                "--backend": ("auto", "trampoline", "tracepoint")}
WORDS = (
    Word("watch", BUILD / "watch", "watch sockets of any program: what was copied, and why",
         firsts=(COMMS,), values=WATCH_VALUES, section=8),
    Word("advise", TOOLS / "advise", "say which way to send pays, for a path or a program",
         firsts=("crossover", "predict"),
         values={"--comm": (COMMS,), "-p": (PIDS,), "--pid": (PIDS,), "--path": PATHS,
                 "--source": ("file", "memory")}, section=8),
    Word("run", TOOLS / "trace_run", "run a TCP workload and show where its payload is copied",
         "trace_run", firsts=VARIANTS, values=RUN_VALUES, section=8),
    Word("list", TOOLS / "records", "list the records that were kept", before=("list",)),
    Word("show", TOOLS / "records", "show a kept record again: its report, or a row of CSV",
         before=("show",), firsts=("last",), rest=(RECORDS_HERE,)),
    Word("sweep", TOOLS / "sweep", "compare variants, or repeat a published experiment",
         values={"--profile": PROFILE_NAMES, "--variants": VARIANTS, "--path": PATHS,
                 "--kernel": KERNELS}, section=8),
    Word("compare", TOOLS / "compare",
         "put two records or sweeps side by side: copies, causes, times",
         firsts=("last",), rest=(RECORDS_HERE,)),
    Word("fleet", TOOLS / "fleet", "ask Prometheus where in a fleet zero copy was in vain"),
    Word("plot", TOOLS / "plot", "draw figures from records: lines, copy maps, bars",
         values={"--profile": PROFILE_NAMES}),
    Word("matrix", TOOLS / "matrix", "run every kernel and path in guests: what was copied where"),
    Word("baseline", TOOLS / "baseline", "measure what this machine's operating system costs",
         firsts=("plot", "mistakes", "agree", "keep"), section=8),
    Word("predict", TOOLS / "predict", "predict times from the baseline, compare with measured",
         section=8),
    Word("crossover", TOOLS / "crossover", "find the size from which one variant beats another",
         firsts=VARIANTS, values={"--path": PATHS, "--profile": PROFILE_NAMES}, section=8),
    Word("claims", TOOLS / "claims", "judge what reports, or you, claim by records of runs",
         firsts=("list", "show", "check", "run", "report", "fix"), values={"--report": REPORTS}),
    Word("guest", TOOLS / "guest", "run a command in a throwaway guest with another kernel",
         values={"--kernel": KERNELS}),
    Word("peers", TOOLS / "peers", "make one run between two guests", firsts=VARIANTS,
         values=RUN_VALUES),
)
# As the launcher of an installed copy has it.
INSTALLED_RUNS = "$([ \"$(id -u)\" = 0 ] && echo /var/lib/copyscope/runs || " \
    "echo \"${XDG_STATE_HOME:-$HOME/.local/state}/copyscope/runs\")"
RUNS = ROOT / "results" / "runs"
# What the dispatcher answers itself.
OWN = {"help": "show the manual page of a word, or its help",
       "completion": "print completion for bash or zsh"}
SHELLS = ("bash", "zsh")
NAMES = tuple(word.name for word in WORDS)


def find(name: str) -> Word | None:
    """The row of a word."""
    return next((word for word in WORDS if word.name == name), None)


def suggestion(name: str) -> str:
    """What may have been meant; empty if nothing is like it."""
    if name in VARIANTS:
        return f"run {name}"
    tools = {word.program.name: word.name for word in WORDS}
    near = nearest(name, [*NAMES, *OWN, *tools])
    return tools.get(near, near)


# Completion for bash and zsh, made of the table of words and of what each tool's --help lists.

# As argparse and argp list them: at the beginning of a line, after a short form if there is one.
OPTION = re.compile(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", re.MULTILINE)
HELP_S = 20
# Commands of an install besides copyscope, which are words of it, too.
ALIASES = "trace_run copyscope-collect"

FUNCTIONS = """\
# What the machine has now: records that are kept, programs by name, processes.
_copyscope_records()
{{
	local folder={folder} each

	for each in $(ls "$folder" 2>/dev/null); do
		case $each in
		*.json) printf '%s\\n' "${{each%.json}}" ;;
		*) [ ! -f "$folder/$each/plan.json" ] || printf '%s\\n' "$each" ;;
		esac
	done
}}
_copyscope_comms()
{{
	cat /proc/[0-9]*/comm 2>/dev/null | grep -E '^[A-Za-z0-9_./:+-]+$' | sort -u
}}
_copyscope_pids()
{{
	ls /proc | grep -E '^[0-9]+$'
}}

"""
BASH = """\
# SPDX-License-Identifier: GPL-2.0
# Completion of copyscope for bash, made by: copyscope completion bash
{functions}_copyscope()
{{
	local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W '{words}' -- "$cur")
		return
	fi
	# Behind -- stands a command of another program.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${{COMP_WORDS[i]}} != -- ]] || {{
			compopt -o default
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			return
		}}
	done
	case ${{COMP_WORDS[1]}}:$prev:$cur in
{cases}	esac
	((${{#COMPREPLY[@]}})) || compopt -o default
}}
complete -F _copyscope copyscope

# trace_run is copyscope run, copyscope-collect is copyscope watch.
_copyscope_tool()
{{
	local word=run

	[[ ${{COMP_WORDS[0]}} != *copyscope-collect ]] || word=watch
	COMP_WORDS=(copyscope "$word" "${{COMP_WORDS[@]:1}}")
	((++COMP_CWORD))
	_copyscope
}}
complete -F _copyscope_tool {tools}
"""
BASH_CASE = """\
	{pattern}) mapfile -t COMPREPLY < <(compgen -W '{names}' -- "$cur") ;;
"""
ZSH = """\
#compdef copyscope {tools}
# SPDX-License-Identifier: GPL-2.0
# Completion of copyscope for zsh, made by: copyscope completion zsh
{functions}_copyscope()
{{
	local -a rows

	# trace_run is copyscope run, copyscope-collect is copyscope watch.
	if [[ $service != copyscope ]]; then
		service=${{${{service/trace_run/run}}/copyscope-collect/watch}}
		words=(copyscope $service "${{(@)words[2,-1]}}")
		((CURRENT++))
	fi
	if ((CURRENT == 2)); then
		rows=({rows})
		_describe -t commands 'word of copyscope' rows
		return
	fi
	# Behind -- stands a command of another program.
	local -i dashes=${{words[(i)--]}}
	if ((dashes < CURRENT)); then
		words=("${{(@)words[dashes+1,-1]}}")
		((CURRENT -= dashes))
		_normal
		return
	fi
	case $words[2]:$words[CURRENT-1]:$PREFIX in
{cases}	*) _files ;;
	esac
}}
_copyscope "$@"
"""
ZSH_CASE = """\
	{pattern}) compadd -- {names} ;;
"""


@functools.cache
def help_of(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the help of a command says; each is asked once."""
    return subprocess.run([program, *words, "--help"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=HELP_S, check=False)


def options_of(word: Word) -> list[str]:
    """The options that a tool's help lists; none where the tool cannot be started."""
    try:
        return sorted(set(OPTION.findall(help_of(word.program, *word.before).stdout)))
    except (OSError, subprocess.TimeoutExpired):
        return []


def cases() -> list[tuple[str, list[str]]]:
    """Patterns of word:previous:current, in the order in which they are to be tried, and what
    may stand there."""
    rows: list[tuple[str, list[str]]] = [
        ("help:help:*", [word.name for word in WORDS]), ("completion:completion:*", [*SHELLS])]
    for word in WORDS:
        rows += [(f"{word.name}:{option}:*", [*values]) for option, values in word.values.items()]
        rows.append((f"{word.name}:*:-*", options_of(word)))
        rows.append((f"{word.name}:{word.name}:*", [*word.firsts, *word.rest]))
        rows.append((f"{word.name}:*:*", [*word.rest]))
    return [(pattern, names) for pattern, names in rows if names]


def script(shell: str) -> str:
    """The whole file for a shell."""
    case, whole = (BASH_CASE, BASH) if shell == "bash" else (ZSH_CASE, ZSH)
    lines = "".join(case.format(pattern=pattern, names=" ".join(names))
                    for pattern, names in cases())
    described = {word.name: word.line for word in WORDS} | OWN
    rows = " ".join(shlex.quote(f"{name}:{line}") for name, line in described.items())
    folder = "${COPYSCOPE_RUNS:-" + (INSTALLED_RUNS if INSTALLED else str(RUNS)) + "}"
    return whole.format(tools=ALIASES, words=" ".join(described), rows=rows, cases=lines,
                        functions=FUNCTIONS.format(folder=folder))
