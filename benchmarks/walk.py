"""The way of one pair through the code: which functions are entered from POST to report?

    python -m benchmarks.walk [--list]

Starts a service of its own with one worker, compares two systems over HTTP with nothing cached, and
notes every named function of `app`, `workers` and `sigtest` that is entered in any process while
the answer is awaited; not comprehensions, lambdas, bodies of modules and classes, and nothing that
only starting takes. A round of the reconciler that falls into that time adds about 25. `--list`
names them. Fewer functions in fewer modules are a shorter story.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.service import service

ROOT = Path(__file__).parents[1]
# Runs when a Python of the service starts: notes each function once, as long as FLAG says so.
OBSERVER = """
import mmap, os, sys, threading

folder = os.environ["WALK_FOLDER"]
with open(os.path.join(folder, "flag"), "r+b") as file:
    flag = mmap.mmap(file.fileno(), 1)
log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_APPEND)
root = os.environ["WALK_ROOT"] + os.sep
roots = tuple(root + name + os.sep for name in ("app", "workers", "sigtest"))
seen = set()


def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and flag[0] and code not in seen:
        seen.add(code)
        of_class = code.co_names[:2] == ("__name__", "__module__")
        named = not of_class and not code.co_name.startswith("<")
        if named and code.co_filename.startswith(roots):
            line = f"{code.co_filename[len(root):]} {code.co_qualname}\\n"
            os.write(log, line.encode())


threading.setprofile(note)
sys.setprofile(note)
"""
PAIR = {
    "systems": {
        "a": ["The cat sat on the mat .", "It rains .", "She reads a book ."] * 4,
        "b": ["A cat sat on a mat .", "It rained .", "She is reading a book ."] * 4,
    },
    "references": ["The cat sat on the mat .", "It is raining .", "She is reading ."] * 4,
    "metrics": ["bleu"],
    "resamples": 999,
    "seed": 1,
}


def switch(flag: Path, on: bool) -> None:
    """Note functions from now on, or no more; the file is mapped and must keep its place."""
    with flag.open("r+b") as file:
        file.write(bytes([on]))


def walked() -> list[tuple[str, str]]:
    """File and name of every function entered between POST and report."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "sitecustomize.py").write_text(OBSERVER)
        (folder / "flag").write_bytes(b"\0")
        (folder / "log").touch()
        os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        # METEOR is not asked for, and loading it goes on when all else is ready
        os.environ["SIGTEST_METEOR"] = "asked"
        os.environ |= {"WALK_FOLDER": temporary, "WALK_ROOT": str(ROOT)}
        with service(1) as (client, _):
            switch(folder / "flag", on=True)
            headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
            answer = client.post("/v1/comparisons", content=json.dumps(PAIR), headers=headers)
            report = client.get(f"{answer.raise_for_status().headers['Location']}/report")
            report.raise_for_status()
            switch(folder / "flag", on=False)
        lines = set((folder / "log").read_text().splitlines())
    return sorted((file, name) for file, _, name in (line.partition(" ") for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="name the functions")
    listed = parser.parse_args().list
    found = walked()
    modules = Counter(file for file, _ in found)
    if listed:
        for file, name in found:
            print(f"{file} {name}")
    folders = Counter(str(Path(file).parent) for file, _ in found)
    for folder, count in sorted(folders.items()):
        print(f"{folder:28}{count:5}")
    print(f"{len(found)} functions in {len(modules)} modules")
    if not found:
        sys.exit("No function of the project was met: is the project somewhere else?")


if __name__ == "__main__":
    main()
