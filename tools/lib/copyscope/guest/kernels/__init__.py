# SPDX-License-Identifier: GPL-2.0
"""The kernels that guests boot: fetched from Debian, or named by the path of an image."""
