# SPDX-License-Identifier: GPL-2.0
"""Small programs with odd sockets, each with its own truth, for tests of `copyscope watch`."""
