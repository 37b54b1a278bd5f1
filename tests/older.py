"""An older version of the service: the same code, which calls itself another version.

What it stores has other names and ids, and what this version stores is none of its own.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service import children, launched

from workers.settings import Settings

ROOT = Path(__file__).parents[1]
VERSION = "0.1.9"


def tree(folder: Path) -> Path:
    """A source tree that differs in its version alone; all else are links."""
    for name in ("app", "workers", "examples"):
        (folder / name).symlink_to(ROOT / name)
    package = folder / "sigtest"
    package.mkdir()
    for entry in (ROOT / "sigtest").iterdir():
        if entry.name != "version.py":
            (package / entry.name).symlink_to(entry)
    (package / "version.py").write_text(f'"""An older version."""\n\n__version__ = "{VERSION}"\n')
    return folder


@contextmanager
def served(folder: Path, settings: Settings, **more: str) -> Iterator[str]:
    """The whole older service; its address."""
    more["PYTHONDONTWRITEBYTECODE"] = "1"  # links share their caches with the newer version
    with launched(settings, cwd=folder, PYTHONPATH=str(folder), **more) as (_, url):
        yield url


def hold_workers(settings: Settings) -> None:
    """Stop the workers of the older service where they are, until its end kills them."""
    (server,) = children(os.getpid(), "app.serve", str(settings.state))
    (supervisor,) = children(server, "workers.machine.supervisor")
    store = children(supervisor, "valkey")
    for worker in children(supervisor):
        if worker not in store:
            for pid in (*children(worker), worker):
                os.kill(pid, signal.SIGSTOP)
