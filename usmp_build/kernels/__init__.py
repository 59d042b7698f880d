"""Kernel libraries: the C functions that run operators, and how to call them.

`reference` is C and equals TensorFlow Lite Micro's reference kernels; `cmsis-nn` calls Arm's library, and `extern` the
application; others come by entry point.
"""
