"""Kernel libraries: what runs an operator, and the C that does it.

`reference` is portable C and equals TensorFlow Lite Micro's reference kernels; others come by entry point.
"""
