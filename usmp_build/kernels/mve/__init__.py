"""Kernels for Helium, whose weights are packed in the order in which the C reads them."""
