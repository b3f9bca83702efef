# SPDX-License-Identifier: GPL-2.0
"""Reads the JSON documents that the programs write, and answers questions about them."""
