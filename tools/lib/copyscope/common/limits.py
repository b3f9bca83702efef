# SPDX-License-Identifier: GPL-2.0
"""The largest and smallest numbers that trace_run takes."""

LEAST_BYTES, MOST_BYTES = 8, 64 << 20
MOST_THREADS, MOST_SECONDS = 1024, 86400
