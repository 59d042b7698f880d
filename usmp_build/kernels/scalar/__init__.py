"""Kernels for processors that multiply one number at a time: weights lie in the order in which the C reads them."""
