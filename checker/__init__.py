#!/usr/bin/env python3
"""Check a memory plan against the model files that it was made of: python check_plan.py plan.json kws.tflite ...

This file needs nothing but Python, and shares nothing with the planner.  It reads the models by itself and replays the
plan in arenas of bytes.  Each byte that an operator writes is marked with the tensor and the byte of it that it is;
each byte that an operator needs must still have its mark when it is read.  What an operator needs follows from its
definition in TensorFlow Lite (`Definition`), through all operators that the plan has fused or left out, and not from
what the planner says about it.

    model file ── needs of each element ──┐
                                          ├── replay, each model twice by itself ── right, or the first thing wrong
    plan.json ─── places, order, rows ────┘

Models run in any order.  So the arena of each has, beside what is its own, all that must outlive its runs: variables of
other models, connections, and what the plan says the application keeps.  It may change none of these bytes.

It believes, and this is for tests of the kernels to show:
  - An operator computes the elements of its output in order, forward or backward as the plan says, and sums of products
    up to LANES output channels at a time: all that these need is read before they are written.  A RESHAPE moves all of
    them at once, copies of parts block by block, one part after the other; paddings line by line, along the last axis
    that they pad, inside first.
  - An operator that has scratch for sums reads an image before it writes that image's output; so does one of floats
    that has weights of integers, which it quantizes to scratch.  An SVDF reads a batch before it writes its output.
  - Values.  Functions of single elements (RELU, QUANTIZE) that are fused into the operator before, or become one table,
    are not computed here, and neither is a channel that the plan says is constant.  Of functions that are left out it
    says so.  What constants hold, and in which order an operator has its operands, is not in the plan: of weights,
    biases and outputs it counts the bytes, and names all other constants.  What only the manifest says, it names, too.
Exit code 0: right · 1: wrong · 3: something is not covered, and what comes after it was not checked · 2: usage.
"""
