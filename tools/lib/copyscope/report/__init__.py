# SPDX-License-Identifier: GPL-2.0
"""The report of a record as text, a subject a file: from a document to lines."""
