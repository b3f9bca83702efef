# SPDX-License-Identifier: GPL-2.0
"""The page that answers: of a record of verdicts and a folder of results, as HTML and Markdown."""
