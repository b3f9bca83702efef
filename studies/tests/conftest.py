# SPDX-License-Identifier: GPL-2.0
"""What each test here leaves to the next one as it was."""
from helpers.signals import fixture_signals  # noqa: F401
