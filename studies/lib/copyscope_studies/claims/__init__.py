# SPDX-License-Identifier: GPL-2.0
"""tools/claims: what was claimed, the records that speak to it, and the verdict."""
