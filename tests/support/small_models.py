"""Small models as text, and what is beside them: each is read by several tests."""

from tests.support.tree import text_file
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Output,
    Scratch,
    ScratchRequest,
    Whole,
)
from usmp_build.ir.graph import DType

FORK = text_file("small_models_fork.model.txt")
"""The file computes both wide tensors first; 111 bytes are enough when one branch ends before the other begins."""

GEMM = """
model "gemm"
subgraph 0 "main"
  %0 "x" float32[16,16]
  %1 "y" float32[16,16]
  %2 "z" float32[16]
  %3 "product" float32[16,16]
  %4 "wave" float32[16,16]
  inputs %0, %1, %2
  outputs %4
  %3 = FULLY_CONNECTED(%0, %1, %2)
  %4 = COS(%3)
"""

VIEWED = """
    %0 "x" int8[4,4]
    %1 "a" int8[4,4]
    %2 "b" int8[16]
    %3 "y" int8[16]
    inputs %0
    outputs %3
    %1 = TANH(%0)
    %2 = RESHAPE(%1)
    %3 = TANH(%2)
"""
"""One tensor is a view of another one."""

WEIGHTS = """
    %0 "x" int8[4]
    %1 "w" int8[8] = [1, 2, 3, 4, 5, 6, 7, 8]
    %2 "axis" int32[1] = [0]
    %3 "y" int8[4]
    inputs %0
    outputs %3
    %3 = TANH(%0, %1, %2)
"""

KERNEL = Kernel(
    calls=(KernelCall("f", Whole(), (Input(0), Input(1), Derived(0), Scratch(0), Output(0))),),
    constants=(Constant("table", DType.INT32, bytes(12)),),
    scratch=(ScratchRequest("sums", 16, DType.INT32),),
    alignment=8,
)
"""A kernel for WEIGHTS: it does not read the axis, and has scratch and a table of its own."""

CHAIN = """
    %0 "x" int8[100]
    %1 "a" int8[50]
    %2 "b" int8[60]
    %3 "y" int8[10]
    inputs %0
    outputs %3
    %1 = TANH(%0)
    %2 = TANH(%1)
    %3 = TANH(%2)
"""

IF = """
subgraph 0 "main"
  %0 "c" bool[1]
  %1 "x" int8[8]
  %2 "kept" int8[8]
  %3 "y" int8[8]
  %4 "z" int8[8]
  inputs %0, %1
  outputs %4
  %2 = TANH(%1)
  %3 = IF(%0, %1) then_subgraph=1 else_subgraph=2
  %4 = ADD(%2, %3)
subgraph 1 "then"
  %0 "x" int8[8]
  %1 "y" int8[8]
  inputs %0
  outputs %1
  %1 = TANH(%0)
subgraph 2 "else"
  %0 "x" int8[8]
  %1 "h" int8[8]
  %2 "y" int8[8]
  inputs %0
  outputs %2
  %1 = TANH(%0)
  %2 = TANH(%1)
"""

WHILE = """
subgraph 0 "main"
  %0 "x" int8[8]
  %1 "n" int32[1]
  %2 "y" int8[8]
  %3 "m" int32[1]
  %4 "z" int8[8]
  inputs %0, %1
  outputs %4
  %2, %3 = WHILE(%0, %1) cond_subgraph=1 body_subgraph=2
  %4 = TANH(%2)
subgraph 1 "cond"
  %0 "x" int8[8]
  %1 "n" int32[1]
  %2 "go" bool[1]
  inputs %0, %1
  outputs %2
  %2 = GREATER(%1, %1)
subgraph 2 "body"
  %0 "x" int8[8]
  %1 "n" int32[1]
  %2 "h" int8[8]
  %3 "y" int8[8]
  %4 "k" int32[1]
  inputs %0, %1
  outputs %3, %4
  %2 = TANH(%0)
  %3 = TANH(%2)
  %4 = NEG(%1)
"""
