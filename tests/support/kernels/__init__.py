"""Kernels as tests run them: random cases of one operator, the C, compiled, and what TensorFlow Lite Micro says."""
