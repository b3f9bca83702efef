# SPDX-License-Identifier: GPL-2.0
"""`tools/copyscope`: the table of words, help, versions, completion."""
