"""The ratchet counts code, and nothing else."""

import subprocess
from collections import Counter

from benchmarks import ratchet
from benchmarks.ratchet import measure

SOURCE = '''"""A module."""

# a comment
import os


class Line:
    """A class."""

    def length(self) -> int:
        """A method,
        documented in two lines."""
        return len(
            os.sep
        )
'''


def test_blanks_comments_and_docstrings_are_no_code():
    size = measure(SOURCE)
    assert (size["lines"], size["functions"], size["modules"]) == (6, 1, 1)


def test_a_folder_counts_what_lies_below_it(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("app/main.py", "app/http/auth.py", "app/http/deep/er.py", "workers/queue.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SOURCE)
    monkeypatch.setattr(ratchet, "ROOT", tmp_path)
    sizes = ratchet.folders()
    assert {name: size["lines"] for name, size in sizes.items()} == {
        "app": 18, "app/http": 12, "workers": 6,
    }  # fmt: skip
    assert ratchet.product({**sizes, "sigtest": Counter()})["lines"] == 24
