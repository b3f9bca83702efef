# SPDX-License-Identifier: GPL-2.0
"""Runs the workload beside iperf3, a load generator that others wrote, and compares throughputs."""
