# SPDX-License-Identifier: GPL-2.0
"""Files and folders that nobody else can redirect, each written whole or not at all."""
