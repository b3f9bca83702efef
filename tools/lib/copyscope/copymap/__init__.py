# SPDX-License-Identifier: GPL-2.0
"""The copy map of some records, which figures and pages have."""
