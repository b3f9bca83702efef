# SPDX-License-Identifier: GPL-2.0
"""The attacks of tests/campaign, a file for each kind, and what runs and keeps them."""
