"""The documents' commands, run from top to bottom against a service."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
from exchange import ROOT

HASH = re.compile("[0-9a-f]{32,}")  # of content and versions
ADDRESS = "http://127.0.0.1:8000"


def blocks(name: str, kinds: str) -> list[str]:
    """The blocks of a document that are in one of these languages (`text|json`)."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return re.findall(rf"^```(?:{kinds})\n(.*?)^```", text, re.M | re.S)


def printed(
    name: str, service: httpx.Client, folder: Path, scratch: Path, *programs: Path
) -> list[str]:
    """Lines that a document's commands print in a folder; a command that fails says FAILED.

    Programs are looked for in these folders before that of Python.
    """
    # errors are exit statuses, and every answer ends its line
    (scratch / ".curlrc").write_text('silent\nfail\nwrite-out = "\\n"\n')
    script = "trap 'echo \"FAILED $BASH_COMMAND\"' ERR\n" + "".join(blocks(name, "sh"))
    script = script.replace(ADDRESS, str(service.base_url).rstrip("/"))
    script = script.replace("/tmp/", f"{scratch}/")
    path = ":".join([*map(str, programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "CURL_HOME": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return HASH.sub("HASH", done.stdout).splitlines()


def require_shown(name: str, lines: list[str]) -> None:
    """Check that what a document shows was printed, line by line but for what `...` stands for."""
    at = 0
    for block in blocks(name, "text|json"):
        gap = True
        for line in HASH.sub("HASH", block).splitlines():
            if line == "...":
                gap = True
                continue
            within = lines[at:] if gap else lines[at : at + 1]
            ahead = next((i for i, found in enumerate(within) if _shows(line, found)), None)
            assert ahead is not None, (line, "\n".join(lines))
            at, gap = at + ahead + 1, False


def _shows(line: str, found: str) -> bool:
    return found.startswith(line[:-3]) if line.endswith("...") else found.rstrip() == line
