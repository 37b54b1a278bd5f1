"""`sigtest` as forks of one process that has its imports behind it, for many commands.

    python warmed.py serve SOCKET
    python warmed.py ask SOCKET [ARGUMENT]...

What is asked runs with the asking process's arguments, folder, environment and standard streams,
and ends it with its own status. The first command is the real program.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

LARGEST = 1 << 20  # bytes of arguments and environment


@contextmanager
def warmed(folder: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """This folder with a program `sigtest`, to be the first of PATH, while the block lasts."""
    place, program = folder / "socket", folder / "sigtest"
    this = f'"{sys.executable}" -I -S "{__file__}"'
    program.write_text(f'#!/bin/sh\nexec {this} ask "{place}" "$@"\n')
    program.chmod(0o755)
    serving = [sys.executable, "-P", __file__, "serve", str(place)]
    with subprocess.Popen(
        serving, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield folder
        finally:
            process.terminate()


def serve(place: str) -> None:
    """Answer until terminated."""
    from sigtest import cli
    from sigtest.kinds import KINDS
    from sigtest.warm import warm

    for module in pkgutil.iter_modules(cli.__path__):
        importlib.import_module(f"sigtest.cli.{module.name}")
    assert all(KINDS.values())  # loads them
    warm()
    gc.freeze()  # a fork need not look at all that again
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that attend
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen()
        os.write(1, b"ready\n")
        while True:
            connection, _ = server.accept()
            with connection:
                if os.fork() == 0:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    connection.send(bytes([_attended(connection, cli.main)]))
                    os._exit(0)


def _attended(connection: socket.socket, main: Callable[[], int]) -> int:
    """The status of one command, which runs in a fork."""
    data, streams, _, _ = socket.recv_fds(connection, LARGEST, 3)
    if (child := os.fork()) == 0:
        arguments, folder, environment = json.loads(data)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["sigtest", *arguments]
        try:
            sys.exit(main())
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(int(end.code or 0))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ask(place: str, arguments: list[str]) -> int:
    """The status of a command."""
    try:
        Path(place).with_name("asked").touch(exist_ok=False)
        os.execv(Path(sys.executable).with_name("sigtest"), ["sigtest", *arguments])
    except FileExistsError:
        pass
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(place)
        told = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(client, [told], [0, 1, 2])
        return client.recv(1)[0]


if __name__ == "__main__":
    command, socket_place, *rest = sys.argv[1:]
    if command == "ask":
        sys.exit(ask(socket_place, rest))
    serve(socket_place)
