"""What our C costs, measured: bytes, seconds, instructions, milliseconds.

    python -m benchmarks MODEL.tflite...

Figures are made here and never asserted by a test.
"""
