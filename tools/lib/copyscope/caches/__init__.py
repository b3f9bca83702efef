# SPDX-License-Identifier: GPL-2.0
"""Reads the files that describe the caches of a processor, for the emulator's plugin to model."""
