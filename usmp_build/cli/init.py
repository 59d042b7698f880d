"""Write a commented starter manifest for one or more models."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from usmp_build import plugins, writer
from usmp_build.arrange.ports import default_names, show_type
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model, Tensor
from usmp_build.manifest.starter import StarterModel, fitting_names, starter
from usmp_build.units import show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a model file (.tflite)")
    parser.add_argument("--out", default="usmp.toml", metavar="FILE", help="where to write (default: usmp.toml)")
    parser.add_argument("--project", default="firmware", help="the prefix of files and symbols (default: firmware)")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    target = Path(parsed.out)
    if target.exists() and not parsed.force:
        raise UsageError(Diagnostic("U205", f'"{target}" exists', help="write elsewhere with --out, or use --force"))
    paths = [Path(path) for path in parsed.models]
    (project,) = fitting_names([parsed.project])
    names = fitting_names([path.name.partition(".")[0] for path in paths], [project])
    models = [_describe(name, path, target.parent) for name, path in zip(names, paths, strict=True)]
    text = starter(models, project)
    writer.write_text(target, text)
    print(f'{target} is written: look at its pools, then run "usmp-build plan {target}"')
    return 0


def _describe(name: str, path: Path, folder: Path) -> StarterModel:
    """Read a model, and say of it what helps to write its table."""
    data = DiskFiles().read(str(path))
    model = plugins.importer(path.name, "")(data, name, str(path))
    main = model.main
    constants = sum(tensor.size for graph in model.subgraphs for tensor in graph.tensors if tensor.is_constant)
    about = [f"{len(main.operators)} operators, {show_bytes(constants)} bytes of constants"]
    about += [f"input: {_port(main.tensors[t])}" for t in main.inputs]
    about += [f"output: {_port(main.tensors[t])}" for t in main.outputs]
    relative = os.path.relpath(path.resolve(), folder.resolve()).replace(os.sep, "/")
    return StarterModel(name, relative, about, _names(model))


def _port(tensor: Tensor) -> str:
    return f"{show_type(tensor)} {tensor.name}"


def _names(model: Model) -> dict[str, str]:
    inputs, outputs = default_names(model)
    tensors = model.main.tensors
    by_tensor = {tensors[t].name: name for t, name in inputs.items()}
    return by_tensor | {tensors[t].name: outputs[i] for i, t in enumerate(model.main.outputs)}
