# SPDX-License-Identifier: GPL-2.0
"""A throwaway QEMU guest: fetch a kernel, pack an image, run one command in it."""
