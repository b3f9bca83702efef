#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Starts a watch of each subject, looking at the least and at all: a kernel's verifier reads other programs for each.
#
# usage: subjects.sh BACKEND
# Leaves a line "STATUS WORDS" for each in /out/statuses, and what it said in /out/said.
set -euo pipefail
backend=$1 group=/sys/fs/cgroup/work
echo up
mkdir -p "$group"
subjects=("--pid $$" "--pid $$ --no-children" "--comm bash" "--cgroup $group" "--port 5000" "--netns $$" --all
	"--comm bash --port 5000-5009 --cgroup /sys/fs/cgroup"
	"--all --exclude x --exclude port=5000 --exclude cgroup=$group")
for subject in "${subjects[@]}"; do
	for look in "" "--books calls --sizes --stacks --cpu"; do
		status=0
		# shellcheck disable=SC2086
		build/watch --backend "$backend" $subject $look --seconds 0.1 --quiet --json /run/record.json 2>>/out/said || status=$?
		echo "$status $subject $look" >>/out/statuses
	done
done
