"""What a process of the service is: its log, what lists call it, and that it ends with its parent.

One line is logged an event, with the request and the question that it is about. Lines name ids,
callers and routes; what callers sent is never in them.
"""

import ctypes
import json
import logging
import signal
import sys
import time
from contextvars import ContextVar

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
# loaded before any fork: loading a library between fork and exec may deadlock
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Ask the kernel to send this process a signal when its parent's thread ends; Linux only.

    An orphaned worker would compute on beside its replacement, an orphaned server would block
    its successor.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def call_oneself(name: str) -> None:
    """What `ps` and `top` call this process, in 15 letters; Linux only."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


REQUEST: ContextVar[str] = ContextVar("request", default="")  # id of the request that is served
QUESTION: ContextVar[str] = ContextVar("question", default="")  # id of what a task works for
TOLD = "told"  # what a line says besides its message, by name

INFORMING = ("app.http.observing",)  # log what is no warning, too
OF_UVICORN = ("uvicorn", "uvicorn.error", "uvicorn.access")


class TextFormatter(logging.Formatter):
    """Lines for people."""

    converter = time.gmtime  # type: ignore[assignment]  # as logging itself has it

    def __init__(self) -> None:
        super().__init__("%(asctime)sZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line, with the ids at its end."""
        ids = "".join(f" {name}={value}" for name, value in _ids(record).items())
        return super().formatMessage(record) + ids


class JsonFormatter(logging.Formatter):
    """Lines for programs: a JSON object each."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback is a member of it, so that it stays one line."""
        milliseconds = f"{record.msecs:03.0f}"[:3]
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "time": f"{stamp}.{milliseconds}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_ids(record),
            **getattr(record, TOLD, {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


FORMATTERS: dict[str, type[logging.Formatter]] = {"json": JsonFormatter, "text": TextFormatter}


def configure(form: str) -> None:
    """Let this process and those that it forks log to standard error.

    Args:
        form: One of FORMATTERS.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[form]())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in INFORMING:
        logging.getLogger(name).setLevel(logging.INFO)
    for name in OF_UVICORN:  # it would write lines of its own
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


def _ids(record: logging.LogRecord) -> dict[str, str]:
    told = getattr(record, TOLD, {})
    ids = {"request": REQUEST.get(), "question": told.get("question") or QUESTION.get()}
    return {name: value for name, value in ids.items() if value}
