"""Reading processes that one front end of the tests leaves to the next: each loads for a second."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, ClassVar

from app.requests.reading import ReadingProcess

STARTER = ThreadPoolExecutor(1)  # a process ends with the thread that began it, and this one stays


class Lent(ReadingProcess):
    """One that is left to others where it has nothing to do in the end."""

    spare: ClassVar[list[tuple[subprocess.Popen[bytes], Connection]]] = []

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self._idle = False

    def begin(self) -> None:
        if self._process is None and self.spare:
            self._process, self._line = self.spare.pop()
            self._ready = self._idle = True
        STARTER.submit(super().begin).result()

    def _exchange(self, seconds: int, work: tuple[Any, ...]) -> Any:
        self._idle = False
        outcome = super()._exchange(seconds, work)
        self._idle = True
        return outcome

    def close(self) -> None:
        if self._process is not None and self._idle and self._process.poll() is None:
            self.spare.append((self._process, self._line))
            self._process, self._idle = None, False
        super().close()


def end_spare() -> None:
    """End those that nobody has."""
    while Lent.spare:
        process, line = Lent.spare.pop()
        process.kill()
        process.wait()
        line.close()
