"""Processes of this machine, found by looking at /proc."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def children(pid: int) -> list[int]:
    """Child processes of all threads of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(*GONE):
            found += [int(child) for child in task.read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one, parents before children."""
    own = children(pid)
    return own + [lower for child in own for lower in descendants(child)]


def command(pid: int) -> str:
    """What a process was started with; nothing of one that is gone or has ended."""
    try:
        return (Path(f"/proc/{pid}/cmdline").read_bytes()).replace(b"\0", b" ").decode("utf-8")
    except (*GONE, UnicodeDecodeError):
        return ""


def marked(word: str) -> list[int]:
    """Processes with a word in their environment, except those that have ended."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(*GONE):
            if word.encode() in (folder / "environ").read_bytes() and command(int(folder.name)):
                found.append(int(folder.name))
    return sorted(found)


def resident(pid: int) -> int:
    """Bytes of memory that are a process's alone (the unique set size); 0 where it is gone."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except GONE:
        return 0
    facts = dict(row.split(":", 1) for row in rows[1:] if ":" in row)
    private = ("Private_Clean", "Private_Dirty")
    return sum(int(facts.get(name, "0 kB").split()[0]) for name in private) * 1024


def send(number: signal.Signals, *pids: int) -> int:
    """Send a signal to processes that may be gone already; to how many it went."""
    sent = 0
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            sent += 1
    return sent
