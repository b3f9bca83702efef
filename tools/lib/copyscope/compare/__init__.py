# SPDX-License-Identifier: GPL-2.0
"""`tools/compare`: two records, or two folders of them, side by side."""
