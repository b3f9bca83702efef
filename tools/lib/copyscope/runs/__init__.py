# SPDX-License-Identifier: GPL-2.0
"""Starts trace_run: once, or for every run of a profile, kept in a folder and summed up."""
