# SPDX-License-Identifier: GPL-2.0
"""`tools/fleet`: the ledgers of many hosts, as Prometheus has them, in one answer."""
