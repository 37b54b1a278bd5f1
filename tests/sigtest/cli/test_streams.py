"""Standard streams that are closed, full or of another encoding than UTF-8."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "import sys; from sigtest.cli import main; sys.exit(main())"


def run(tmp_path: Path, words: str, streams: str, **environment: str) -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of `sigtest WORDS` with its streams as a shell sets them."""
    (tmp_path / "text").write_text("a b c d\ne f g h\n")
    command = f'exec "$0" -c "$1" {words} {streams}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, PROGRAM],
        cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


COMPARE = "compare -r text a=text b=text --resamples 99"


@pytest.mark.parametrize(
    ("words", "streams", "status", "said"),
    [
        (COMPARE, ">&-", 2, b"sigtest: standard output: Bad file descriptor\n"),
        pytest.param(
            *("metrics", ">&-", 2, b"sigtest: Bad file descriptor\n"), marks=pytest.mark.slow
        ),
        ("compare --help", ">/dev/full", 2, b"sigtest: No space left on device\n"),
        ("compare -r nothing a=text", "2>&-", 2, b""),
        ("compare -r text a=- b=text", "<&-", 2, b"sigtest: standard input is empty"),
        (f"{COMPARE} --output report", "<&- >&- 2>&-", 0, b""),
    ],
)
def test_streams_that_are_closed_or_full_end_in_a_message_at_most(
    tmp_path, words, streams, status, said
):
    ended, shown, errors = run(tmp_path, words, streams)
    assert (ended, shown) == (status, b"")
    assert errors.startswith(said)
    assert errors.count(b"\n") == bool(said)
    assert (tmp_path / "report").exists() == ("report" in words)


@pytest.mark.parametrize("words", [COMPARE, pytest.param("metrics", marks=pytest.mark.slow)])
def test_output_is_utf_8_in_any_locale(tmp_path, words):
    whole = run(tmp_path, words, "")
    assert whole[0] == 0
    assert not whole[1].isascii()
    assert run(tmp_path, words, "", PYTHONIOENCODING="latin-1") == whole
