#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs the host's tests of foreign programs in a guest, where trampolines count.
#
# usage: programs.sh ARCHIVE SELF_TEST TEST...
# ARCHIVE has what those tests import and start, and is unpacked at the root. SELF_TEST is the kernel's
# msg_zerocopy, or empty. Leaves /out/programs.{xml,txt}.
set -euo pipefail

archive=$1
export COPYSCOPE_MSG_ZEROCOPY=$2
echo up
# The kernel asks for it by another name.
modprobe tls
tar -xf "$archive" -C /
cd /copyscope
status=0
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/modules:tests:tools/lib:studies/lib python3 -m pytest -q -p no:cacheprovider \
	--junitxml=/out/programs.xml "${@:3}" >/out/programs.txt 2>&1 </dev/null || status=$?
# 1: a test failed, as the report says.
((status <= 1))
