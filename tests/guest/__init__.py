# SPDX-License-Identifier: GPL-2.0
"""Claims about copyscope on the kernels of throwaway guests."""
