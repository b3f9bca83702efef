# SPDX-License-Identifier: GPL-2.0
# Sourced by launchers: answers help and version for a program that is not built yet.
# shellcheck shell=bash

set -euo pipefail

# answer_unbuilt ROOT WORD [ARGUMENT...]: becomes the answer if an argument asks for one.
answer_unbuilt() {
	local root=$1 word=$2 each

	shift 2
	for each; do
		case $each in
		-h | -\? | --help | --usage) exec "$root/tools/copyscope" help "$word" ;;
		-V | --version) exec "$root/tools/copyscope" --version ;;
		--) return ;;
		esac
	done
}
