#!/usr/bin/env python3
"""Check a memory plan against the model files that it was made of: python check_plan.py plan.json kws.tflite ...

This program needs nothing but Python, and shares nothing with the planner.  It reads the models by itself and replays
the plan: each byte that an operator writes is marked with the tensor and the byte of it that it is, and each byte that
an operator needs must still have its mark when it is read.  What an operator needs follows from its definition in
TensorFlow Lite, through all operators that the plan has fused or left out, and not from what the planner says.

    model file ─ model ─ definitions: needs of each element ┐
                                                            ├ plan ─ jobs ─ replay ─ main: right, or what is wrong
    plan.json ─ places, order, rows ────────────────────────┘

It believes what tests of the kernels show: that an operator goes through its output in the order that `Job.turn` has,
and scratch is what `Job.scratch` says.  It computes no values: functions of single elements (RELU, QUANTIZE) that are
fused, or become one table, are not checked, nor is a channel that the plan says is constant.  Of functions that are
left out it says so, and it names what it must take from the plan: what constants hold, and what the manifest says.
"""
