# SPDX-License-Identifier: GPL-2.0
"""`tools/records`: the records that were kept, as a list, as reports and as CSV."""
