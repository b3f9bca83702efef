#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs odd programs of tests/odd in a guest, where trampolines count; its host judges them.
#
# usage: odd.sh PYTHON WAYS PROGRAM...
# Leaves /out/PROGRAM.WAY.truth, /out/together.WAY.{json,told,status}, and what the suite said in
# /out/suite.txt.
set -euo pipefail

echo up
# The kernel asks for neither: a device file comes with its module, a layer is asked for by another name.
modprobe tun
modprobe tls
modprobe xfrm_user
modprobe ip_vs
# Cards that a program may have for itself; on another machine it takes none.
export ODD_NICS="eth0 eth1"
# Tasks under SCHED_FIFO are stopped inside a program for none of their kind; see watch.sh.
scheduled=()
[[ ! -v COPYSCOPE_FIFO ]] || scheduled=(chrt -f 1)
# Fewer of what there are many of.
ODD_SMALL=1 PYTHONPATH=tests "${scheduled[@]}" "$1" -S -m odd.suite /out "${@:3}" --together --ways "$2" >/out/suite.txt 2>&1
