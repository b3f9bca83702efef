# SPDX-License-Identifier: GPL-2.0
"""What serves the published studies: commands that repeat them, and judge what they claim."""
