"""Write a commented starter manifest for one or more models."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from usmp_build import plugins, writer
from usmp_build.errors import Diagnostic, UsageError, UsmpError
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model, Tensor
from usmp_build.ir.ports import port_names, show_type
from usmp_build.manifest import tvmc
from usmp_build.manifest.starter import StarterModel, fitting_names, starter
from usmp_build.units import show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a model file (.tflite)")
    parser.add_argument("--out", default="usmp.toml", metavar="FILE", help="where to write (default: usmp.toml)")
    parser.add_argument("--project", default="firmware", help="the prefix of files and symbols (default: firmware)")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--from-tvmc", metavar="FLAGS", help="take pools, targets and options from a command line of TVMC, in quotes"
    )


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    target = Path(parsed.out)
    if target.exists() and not parsed.force:
        raise UsageError(Diagnostic("U205", f'"{target}" exists', help="write elsewhere with --out, or use --force"))
    if not parsed.models and parsed.from_tvmc is None:
        help_ = "name model files, or give --from-tvmc a command line of TVMC"
        raise UsageError(Diagnostic("U224", "there is nothing to begin with", help=help_))
    (project,) = fitting_names([parsed.project])
    command = tvmc.read_command(parsed.from_tvmc or "")
    models = list(_models(parsed, command, project))
    memory = None if parsed.from_tvmc is None else tvmc.memory(command, project)
    writer.write_text(target, starter(models, project, memory))
    print(f'{target} is written: look at its pools, then run "usmp-build plan {target}"')
    return 0


def _models(parsed: argparse.Namespace, command: tvmc.Command, project: str) -> Iterator[StarterModel]:
    """Describe the models of our command line, then those of TVMC's."""
    others = [path for path in command.models if path not in parsed.models]
    paths = [Path(path) for path in (*parsed.models, *others)]
    wanted = [path.name.partition(".")[0] for path in paths]
    if paths and command.module:
        wanted[-1] = command.module
    names, folder = fitting_names(wanted, [project]), Path(parsed.out).parent
    for position, (name, path) in enumerate(zip(names, paths, strict=True)):
        if position < len(parsed.models):
            yield _describe(name, path, folder)
        else:
            yield _describe_if_here(name, path, folder)


def _describe_if_here(name: str, path: Path, folder: Path) -> StarterModel:
    """Describe a model that another command line names: it may be elsewhere, or of a kind that nobody here reads."""
    try:
        return _describe(name, path, folder)
    except UsmpError as error:
        return StarterModel(name, _relative(path, folder), [f"not read: {error.diagnostics[0].message}"])


def _describe(name: str, path: Path, folder: Path) -> StarterModel:
    """Read a model, and say of it what helps to write its table."""
    data = DiskFiles().read(str(path))
    model = plugins.importer(path.name, "")(data, name, str(path))
    main = model.main
    constants = sum(tensor.size for graph in model.subgraphs for tensor in graph.tensors if tensor.is_constant)
    about = [f"{len(main.operators)} operators, {show_bytes(constants)} bytes of constants"]
    about += [f"input: {_port(main.tensors[t])}" for t in main.inputs]
    about += [f"output: {_port(main.tensors[t])}" for t in main.outputs]
    return StarterModel(name, _relative(path, folder), about, _names(model))


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve()).replace(os.sep, "/")


def _port(tensor: Tensor) -> str:
    return f"{show_type(tensor)} {tensor.name}"


def _names(model: Model) -> dict[str, str]:
    inputs, outputs = port_names(model, {}, ())
    tensors = model.main.tensors
    ports = (*zip(model.main.inputs, inputs, strict=True), *zip(model.main.outputs, outputs, strict=True))
    return {tensors[tensor].name: name for tensor, name in ports}
