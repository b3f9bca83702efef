# SPDX-License-Identifier: GPL-2.0
"""Single facts of a kernel and of the workload on it, each counted exactly."""
