"""Write a commented starter manifest for one or more models."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from usmp_build import plugins
from usmp_build.cli.model_names import PROJECT, from_folder, renamings, unfit, wanted_names
from usmp_build.cli.overrides import MANIFEST
from usmp_build.document.source import check_size, decode
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsageError, UsmpError
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model, Tensor
from usmp_build.ir.ports import port_names, show_type
from usmp_build.manifest import tvmc
from usmp_build.manifest.memory_maps import (
    CODES,
    read_devicetree,
    read_linker_script,
    read_mpool,
    starter_memory,
)
from usmp_build.manifest.starter import StarterMemory, StarterModel, fitting_names, starter
from usmp_build.output import writer
from usmp_build.units import show_bytes

_MEMORY_MAPS = {
    "linker-script": (read_linker_script, "FILE.ld", "MEMORY of a linker script of GNU ld"),
    "devicetree": (
        read_devicetree,
        "FILE.dts",
        "the devicetree of a build of Zephyr, build/zephyr/zephyr.dts",
    ),
    "mpool": (read_mpool, "FILE.mpool", "memory pools of ST's tools"),
}
"""The end of an option `--from-...` → what reads its file, how help calls that, and what it is."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a model file (.tflite)")
    parser.add_argument("--out", default=MANIFEST, metavar="FILE", help=f"where to write (default: {MANIFEST})")
    parser.add_argument("--project", default=PROJECT, help=f"the prefix of files and symbols (default: {PROJECT})")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--from-tvmc", metavar="FLAGS", help="take pools, targets and options from a command line of TVMC, in quotes"
    )
    for option, (_, file, what) in _MEMORY_MAPS.items():
        parser.add_argument(f"--from-{option}", metavar=file, help=f"take pools from {what}")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    target = Path(parsed.out)
    if target.exists() and not parsed.force:
        raise UsageError(Diagnostic("U205", f'"{target}" exists', help="write elsewhere with --out, or use --force"))
    sources = [f"--from-{source}" for source in ("tvmc", *_MEMORY_MAPS) if _given(parsed, source) is not None]
    if not parsed.models and not sources:
        help_ = "name model files, or where pools are to be taken from: `usmp-build init --help` lists the options"
        raise UsageError(Diagnostic("U224", "init needs model files, or an option --from-...", help=help_))
    if len(sources) > 1:
        raise UsageError(Diagnostic("U274", f"pools of two files: {' and '.join(sources)}", help="give one of them"))
    (project,) = fitting_names([parsed.project])
    command = tvmc.read_command(parsed.from_tvmc or "")
    others = [path for path in command.models if path not in parsed.models]
    paths = [Path(path) for path in (*parsed.models, *others)]
    wanted = wanted_names(paths, command.module)
    names = fitting_names(wanted, [project])
    models = list(_models(paths, names, len(parsed.models), target.parent))
    memory = _mapped(parsed) if parsed.from_tvmc is None else tvmc.memory(command, project)
    writer.write_text(target, starter(models, project, memory))
    if project != parsed.project:
        print(f'the project is called "{project}": {quoted(parsed.project)} {unfit(parsed.project)}')
    print(
        *renamings(paths, wanted, names, project),
        f'{target} is written: look at its pools, then run "usmp-build plan {target}"',
        'for an editor that knows TOML: "usmp-build schema > usmp.schema.json" beside it, and words are completed',
        sep="\n",
    )
    return 0


def _mapped(parsed: argparse.Namespace) -> StarterMemory | None:
    """Return the pools of the file that an option names; None where there is no such option."""
    for option, (read, _, _) in _MEMORY_MAPS.items():
        path = _given(parsed, option)
        if path is not None:
            data = DiskFiles().read(path)
            check_size(data, path, CODES)
            source = decode(data, path, CODES)
            return starter_memory(read(source), source)
    return None


def _given(parsed: argparse.Namespace, source: str) -> str | None:
    """Return what the command line gives to the option `--from-...` of a source of pools."""
    value: str | None = getattr(parsed, f"from_{source.replace('-', '_')}")
    return value


def _models(paths: Sequence[Path], names: Sequence[str], count: int, folder: Path) -> Iterator[StarterModel]:
    """Describe the models of our command line, which are the first `count`, then those of TVMC's."""
    for position, (name, path) in enumerate(zip(names, paths, strict=True)):
        yield _describe(name, path, folder) if position < count else _describe_if_here(name, path, folder)


def _describe_if_here(name: str, path: Path, folder: Path) -> StarterModel:
    """Describe a model of TVMC's command line: it may be elsewhere, or of a kind without an importer."""
    try:
        return _describe(name, path, folder)
    except UsmpError as error:
        return StarterModel(name, from_folder(path, folder), [f"not read: {error.diagnostics[0].message}"])


def _describe(name: str, path: Path, folder: Path) -> StarterModel:
    data = DiskFiles().read(str(path))
    model = plugins.importer(path.name, "", data)(data, name, str(path))
    main = model.main
    constants = sum(tensor.size for graph in model.subgraphs for tensor in graph.tensors if tensor.is_constant)
    about = [f"{len(main.operators)} operators, {show_bytes(constants)} bytes of constants"]
    about += [f"input: {_port(main.tensors[t])}" for t in main.inputs]
    about += [f"output: {_port(main.tensors[t])}" for t in main.outputs]
    return StarterModel(name, from_folder(path, folder), about, _names(model))


def _port(tensor: Tensor) -> str:
    return f"{show_type(tensor)} {tensor.name}"


def _names(model: Model) -> dict[str, str]:
    inputs, outputs = port_names(model, {}, ())
    tensors = model.main.tensors
    ports = (*zip(model.main.inputs, inputs, strict=True), *zip(model.main.outputs, outputs, strict=True))
    return {tensors[tensor].name: name for tensor, name in ports}
