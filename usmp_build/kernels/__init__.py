"""Kernel libraries: the C functions that run operators, and how to call them.

`reference` is C and equals TensorFlow Lite Micro's reference kernels: `portable`, and for some operators `dsp` and
`mve`, which take the instructions of a target.  `cmsis-nn` calls Arm's library, and `extern` the application; others
come by entry point.  Modules beside these packages are what several share.
"""
