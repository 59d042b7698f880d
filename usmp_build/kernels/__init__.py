"""Kernel libraries: the C functions that run operators, and how to call them.

`reference` is portable C and equals TensorFlow Lite Micro's reference kernels; others come by entry point.
"""
