#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs copyscope or trace_run, as it is called by, with records in the place for a program's state.

home=$(dirname "$(readlink -f "$0")")
if [ -z "${COPYSCOPE_RUNS:-}" ]; then
	if [ "$(id -u)" = 0 ]; then
		COPYSCOPE_RUNS=/var/lib/copyscope/runs
	else
		COPYSCOPE_RUNS=${XDG_STATE_HOME:-${HOME:-/nonexistent}/.local/state}/copyscope/runs
	fi
	# Whoever writes or reads records says what is wrong there; the others need no folder.
	mkdir -p "$COPYSCOPE_RUNS" 2>/dev/null
	export COPYSCOPE_RUNS
fi
exec "$home/tools/${0##*/}" "$@"
