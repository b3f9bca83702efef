# SPDX-License-Identifier: GPL-2.0
"""The message size from which one variant beats another: search, runs and command line."""
