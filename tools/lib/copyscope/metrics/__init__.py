# SPDX-License-Identifier: GPL-2.0
"""copyscope watch --metrics and --serve: what intervals brought, as counters for Prometheus."""
