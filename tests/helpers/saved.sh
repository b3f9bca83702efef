# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced in guests: runs a command and leaves what it said and how it ended.

# saved NAME COMMAND...: leaves /out/NAME.{out,err,status}.
saved() {
	local status=0
	"${@:2}" </dev/null >"/out/$1.out" 2>"/out/$1.err" || status=$?
	echo "$status" >"/out/$1.status"
}
