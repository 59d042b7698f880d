"""The arithmetic of TensorFlow Lite Micro on quantized numbers, bit for bit: for kernels, and for rewrites."""
