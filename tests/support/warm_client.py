"""What `warm.interpreter` runs: it asks the process that is there for its environment, or starts one for later calls.

Its arguments are the folder of sockets, the process of the tests, and what a Python is called with.
"""

import marshal
import os
import socket
import sys
import zlib

_FOLDER, _OWNER, *_ARGUMENTS = sys.argv[1:]
_LOADED = {name: value for name, value in os.environ.items() if name.startswith(("LANG", "LC_", "PYTHON", "_USMP"))}
"""What decides how a Python starts, and what it loads."""
_SOCKET = f"{_FOLDER}/{zlib.crc32(repr(sorted(_LOADED.items())).encode()):08x}"


def _asked(server: socket.socket) -> int:
    """Return the exit code of what is run with our streams, in our folder."""
    socket.send_fds(server, [b"\0"], [0, 1, 2])
    server.sendall(marshal.dumps((os.getcwd(), _ARGUMENTS, dict(os.environ))))  # noqa: PTH109
    server.shutdown(socket.SHUT_WR)
    return (server.recv(1) or b"\1")[0]


def _start() -> None:
    """Start the process, which no build waits for."""
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "warm.py"), _SOCKET, _OWNER]  # noqa: PTH118, PTH120
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nothing, setsid=True)


with socket.socket(socket.AF_UNIX) as server:
    if _ARGUMENTS[:1] in (["-c"], ["-m"]):
        try:
            server.connect(_SOCKET)
        except (FileNotFoundError, ConnectionRefusedError):
            _start()
        else:
            os._exit(_asked(server))
os.execv(sys.executable, [sys.executable, *_ARGUMENTS])
