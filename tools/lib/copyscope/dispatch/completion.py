# SPDX-License-Identifier: GPL-2.0
"""Completion for bash and zsh, made of the table of words and of what each tool's --help lists."""
from __future__ import annotations

import re
import shlex
import subprocess

from .words import OWN, SHELLS, WORDS, Word, find

# As argparse and argp list them: at the beginning of a line, after a short form if there is one.
OPTION = re.compile(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", re.MULTILINE)
HELP_S = 20
MAIN_JOB, RECORDS = "trace_run", "records"
# Those whose command has the name of the word.
TOOLS_OF_WORDS = [word.name for word in WORDS if word.program.parent.name == "tools"
                  and word.program.name == word.name]

BASH = """\
# SPDX-License-Identifier: GPL-2.0
# Completion of copyscope for bash, made by: copyscope completion bash
_copyscope()
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

# An installed copy has a command for each tool besides: copyscope-sweep is copyscope sweep.
_copyscope_tool()
{{
	local word=${{COMP_WORDS[0]##*/}}

	word=${{word#copyscope-}}
	COMP_WORDS=(copyscope "${{word/#trace_run/run}}" "${{COMP_WORDS[@]:1}}")
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
_copyscope()
{{
	local -a rows

	# An installed copy has a command for each tool besides: copyscope-sweep is copyscope sweep.
	if [[ $service != copyscope ]]; then
		words=(copyscope "${{${{service#copyscope-}}/#trace_run/run}}" "${{(@)words[2,-1]}}")
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


def options_of(word: Word) -> list[str]:
    """The options that a tool's help lists; none where the tool cannot be started."""
    try:
        done = subprocess.run([word.program, *word.before, "--help"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=HELP_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(set(OPTION.findall(done.stdout)))


def cases() -> list[tuple[str, list[str]]]:
    """Patterns of word:previous:current, in the order in which they are to be tried, and what
    may stand there."""
    rows: list[tuple[str, list[str]]] = [
        ("help:help:*", [word.name for word in WORDS]), ("completion:completion:*", [*SHELLS]),
        ("records:records:*", ["list", "show"]), ("records:*:-*", options_of(find("list")))]
    for word in WORDS:
        rows += [(f"{word.name}:{option}:*", [*values]) for option, values in word.values.items()]
        rows.append((f"{word.name}:*:-*", options_of(word)))
        rows.append((f"{word.name}:{word.name}:*", [*word.firsts]))
    return [(pattern, names) for pattern, names in rows if names]


def script(shell: str) -> str:
    """The whole file for a shell."""
    case, whole = (BASH_CASE, BASH) if shell == "bash" else (ZSH_CASE, ZSH)
    lines = "".join(case.format(pattern=pattern, names=" ".join(names))
                    for pattern, names in cases())
    described = {word.name: word.line for word in WORDS} | OWN
    rows = " ".join(shlex.quote(f"{name}:{line}") for name, line in described.items())
    tools = " ".join([MAIN_JOB, *(f"copyscope-{name}" for name in (*TOOLS_OF_WORDS, RECORDS))])
    return whole.format(tools=tools, words=" ".join(described), rows=rows, cases=lines)
