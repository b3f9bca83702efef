# SPDX-License-Identifier: GPL-2.0
"""What several test files need: runs, records, and the books that a record must show."""
