# SPDX-License-Identifier: GPL-2.0
# Sourced by launchers: shows a message with foreign words in it on one line that can be read.
# shellcheck shell=bash

set -euo pipefail

shown() {
	local text=$1

	((${#text} <= 500)) || text=${text:0:340}...${text: -157}
	if [[ $text = *[[:cntrl:]]* ]]; then printf '%q' "$text"; else printf '%s' "$text"; fi
}
