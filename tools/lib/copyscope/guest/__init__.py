# SPDX-License-Identifier: GPL-2.0
"""Runs a command as root in a throwaway guest with another kernel."""
