"""Kernels for Arm's DSP extension, whose weights are packed in the order in which the C reads them."""
