"""A Python for builds that answers at once: a process that has loaded our package forks for each call.

A build starts our tool several times, and each start takes a second of imports.  Tests of the interpreter itself, of
pages and of packages start a real one.
"""

import atexit
import fcntl
import gc
import marshal
import os
import runpy
import shutil
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path

_CLIENT = Path(__file__).with_name("warm_client.py")
_MODEL = Path(__file__).parents[1] / "data" / "odd_even.tflite"
_SECONDS = 5.0
"""How often a process that nobody asks looks whether the tests are still there."""


@cache
def interpreter(python: Path = Path(sys.executable)) -> Path:
    """Return a program that is called like this Python, or another; its processes end some seconds after this one."""
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec "{python}" -IS "{_CLIENT}" "{folder}" {os.getpid()} "$@"\n', "utf-8")
    script.chmod(0o755)
    return script


def command(python: Path) -> Path:
    """Return a folder for PATH, in which `usmp-build` is that of an environment."""
    script = interpreter(python).parent / "bin" / "usmp-build"
    if not script.exists():
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec "{interpreter(python)}" -m usmp_build "$@"\n', "utf-8")
        script.chmod(0o755)
    return script.parent


def serve(path: str, owner: int) -> None:
    """Answer requests at a socket until the process that started this one ends."""
    os.closerange(3, 256)  # of a build, which would wait for them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)  # a second one ends here
        _load()
        server.listen(32)
        server.settimeout(_SECONDS)
        while _is_there(owner):
            with suppress(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)
            with suppress(TimeoutError):
                connection, _ = server.accept()
                with connection:
                    if os.fork() == 0:
                        _answer(connection)


def _load() -> None:
    """Load all that a plan takes, by making one."""
    from usmp_build.cli import main

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:  # noqa: PTH123
        sys.stdout, sys.stderr, streams = nothing, nothing, (sys.stdout, sys.stderr)
        main(["generate", str(_MODEL), "--out", folder])
        sys.stdout, sys.stderr = streams
    gc.freeze()


def _is_there(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def _answer(connection: socket.socket) -> None:
    """Do what a Python does that is called like this, and end."""
    connection.setblocking(True)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    folder, arguments, environment = marshal.loads(connection.makefile("rb").read())
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, os.O_ASYNC)  # a signal ends this process with the one that asks
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = _run(*arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(bytes([code]))
    os._exit(code)


def _run(option: str, what: str, *arguments: str) -> int:
    """Run a program, or a module; return its exit code."""
    sys.argv = [option, *arguments]
    try:
        if option == "-c":
            exec(what, {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return int(stop.code is not None) if not isinstance(stop.code, int) else stop.code
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
