"""The command line, run in this process."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sigtest.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line; the status, standard output and standard error."""

    def running(*arguments: object) -> tuple[int, str, str]:
        status = main([*map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return running


@pytest.fixture
def answer(run: Run) -> Callable[..., dict[str, Any]]:
    """Run with --format json; the report."""

    def running(*arguments: object) -> dict[str, Any]:
        status, out, err = run(*arguments, "--format", "json")
        assert (status, err) == (0, "")
        return dict(json.loads(out))

    return running


@pytest.fixture
def complaint(run: Run) -> Callable[..., str]:
    """Run what must fail; its one line on standard error."""

    def running(*arguments: object) -> str:
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("sigtest: ")
        assert err.count("\n") == 1
        return err.removeprefix("sigtest: ").rstrip("\n")

    return running
