# SPDX-License-Identifier: GPL-2.0
"""Programs that the model of tools/advise has never seen, each as it is and with the change that is advised."""
