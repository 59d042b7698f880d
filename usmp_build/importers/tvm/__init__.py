"""Imports ONNX files and saved Relax modules: TVM lowers them, in a process of its own, to a program with its C."""

from usmp_build.importers.tvm.process import import_onnx, import_relax

__all__ = ["import_onnx", "import_relax"]
