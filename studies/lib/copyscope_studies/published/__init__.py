# SPDX-License-Identifier: GPL-2.0
"""tools/published: the programs of the reports, by the words that the reports type."""
