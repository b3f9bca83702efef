# SPDX-License-Identifier: GPL-2.0
"""What all figures are drawn with: pages laid out by measured text, looks of series, axes."""
