# SPDX-License-Identifier: GPL-2.0
"""What tests/run is made of: stages, the jobs they consist of, and how reports are summed."""
