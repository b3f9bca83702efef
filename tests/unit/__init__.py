# SPDX-License-Identifier: GPL-2.0
"""What can be tested without root and without a kernel of one kind."""
