"""What operators make of values: exact for single ones, and of all that a channel may hold.

`quantized` reads operands, `transfer` computes, `interval` is what it computes with.
"""
