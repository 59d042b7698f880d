"""An interpreter of this machine that has the packages of the generator."""

_PACKAGES = ["jinja2", "numpy", "pydantic", "tomli"]

_ASK = """\
import sys
from importlib import import_module, metadata

assert sys.version_info >= (3, 10), "this is Python " + sys.version
for package in {packages}:
    import_module(package)
print(sys.executable)
print("Python", *sys.version_info[:3])
for package in {packages}:
    print(package, metadata.version(package))
for dist in sorted(metadata.distributions(), key=lambda dist: str(dist.name)):
    if any(entry.group.startswith("usmp_build.") for entry in dist.entry_points):
        print("plug-ins of", dist.name, dist.version)
    elif dist.name in ["apache-tvm", "apache-tvm-ffi", "onnx"]:
        print(dist.name, dist.version)
{more}
"""

# Where this repository holds no sources, it is an installed package, and the interpreter must have the same.
_ASK_OWN = """\
import usmp_build

assert usmp_build.__version__ == "{version}", f"it has usmp_build {{usmp_build.__version__}}, and the rules are of {version}"
print("usmp_build", usmp_build.__version__)
"""

_BUILD = """\
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

py_runtime(
    name = "interpreter",
    interpreter_path = "{python}",
    python_version = "PY3",
    stub_shebang = "#!/usr/bin/env python3",
)

py_runtime_pair(
    name = "interpreters",
    py3_runtime = ":interpreter",
)

toolchain(
    name = "toolchain",
    toolchain = ":interpreters",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)

exports_files(["versions.txt"])
"""

# The package itself is no input, but its version is: with another one everything is planned again.
_BUILD_PACKAGE = """\
py_library(
    name = "{package}",
    data = ["//:versions.txt"],
    visibility = ["//visibility:public"],
)
"""

def _version(module):
    """Returns the version of the rules: what MODULE.bazel says of its module."""
    return module.partition("version = \"")[2].partition("\"")[0]

def _usmp_python_impl(repository):
    python = repository.os.environ.get("USMP_PYTHON") or repository.which("python3")
    if not python:
        fail("there is no python3 on PATH; set USMP_PYTHON to an interpreter of Python 3.10 or newer")
    root = repository.path(repository.attr._root).dirname
    if root.get_child("usmp_build").exists:
        needed, more = _PACKAGES, ""
    else:
        version = _version(repository.read(root.get_child("MODULE.bazel")))
        needed, more = ["usmp_build==" + version], _ASK_OWN.format(version = version)
    done = repository.execute([python, "-c", _ASK.format(more = more, packages = _PACKAGES)])
    if done.return_code:
        fail("%s cannot run usmp_build: %s.  Install its packages with\n" % (python, done.stderr.strip().split("\n")[-1]) +
             "  \"%s\" -m pip install %s\n" % (python, " ".join(needed)) +
             "or set USMP_PYTHON to an interpreter that has them.")
    executable, _, versions = done.stdout.partition("\n")
    repository.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository.name)
    repository.file("versions.txt", versions)
    repository.file("BUILD.bazel", _BUILD.format(python = executable))
    for package in _PACKAGES:
        repository.file(package + "/BUILD.bazel", _BUILD_PACKAGE.format(package = package))

usmp_python = repository_rule(
    implementation = _usmp_python_impl,
    doc = "A toolchain for Python, `:toolchain`, and labels of packages that the interpreter has: $USMP_PYTHON, or " +
          "else python3 on PATH.",
    attrs = {
        "_root": attr.label(default = "//:BUILD.bazel"),
    },
    configure = True,
    environ = ["PATH", "USMP_PYTHON"],
    local = True,
)
