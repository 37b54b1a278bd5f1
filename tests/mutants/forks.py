"""Runs pytest in forks of one process that has the slow imports behind it.

    python forks.py serve SOCKET FOLDER SECONDS
    python forks.py ask SOCKET TEST...
    python forks.py ask SOCKET check MODULE.FUNCTION

The first stays and answers; the others exit with the status that pytest ended with, or with 1
where a check of `validation` fails. A fork knows nothing of the modules that are mutated: it
imports them from FOLDER as they are at that moment.
"""

import gc
import importlib
import os
import resource
import signal
import socket
import sys

PRELOADED = (
    "numba",
    "numpy",
    "pytest",
    "sacrebleu",
    "scipy.special",
    "scipy.stats",
    "statsmodels.stats.contingency_tables",
    "statsmodels.stats.multitest",
)


def serve(path: str, folder: str, seconds: int) -> None:
    """Answer until killed."""
    sys.dont_write_bytecode = True  # or mutants would be read from the cache of others
    sys.path.insert(0, folder)
    os.chdir(folder)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for module in PRELOADED:
        __import__(module)
    gc.freeze()  # a fork need not look at all that again
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            connection, _ = server.accept()
            with connection:
                tests = connection.recv(1 << 16).decode().split("\0")
                connection.send(bytes([_tried(tests, seconds)]))


def _tried(tests: list[str], seconds: int) -> int:
    """Exit status of pytest in a fork; 99 where it took too long or was killed.

    Too long is by the time of the processor, which does not depend on what else the machine does.
    """
    child = os.fork()
    if child == 0:
        signal.alarm(6 * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        if tests[0] == "check":
            os._exit(_failed(tests[1]))
        import pytest  # it is imported already

        options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider"]
        os._exit(int(pytest.main([*options, *tests])))
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99


def _failed(check: str) -> int:
    module, name = check.split(".")
    try:
        return int(not getattr(importlib.import_module(f"validation.{module}"), name)().passed)
    except Exception:
        return 1  # an error is noticed, too


def ask(path: str, tests: list[str]) -> int:
    """Exit status of pytest on these tests."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.send("\0".join(tests).encode())
        answer = client.recv(1)
    return answer[0] if answer else 99


if __name__ == "__main__":
    command, place, *rest = sys.argv[1:]
    if command == "ask":
        sys.exit(ask(place, rest))
    serve(place, rest[0], int(rest[1]))
