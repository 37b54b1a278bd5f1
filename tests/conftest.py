"""What all tests share: where the real data is."""

import gc
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
os.environ.setdefault("SIGTEST_METEOR", "asked")  # most services here never need it
DATA = Path(os.environ.get("SIGTEST_DATA", ROOT / ".." / "shared" / "data")).resolve()
EXAMPLE = ROOT / "examples" / "shared-task"

gc.disable()  # until tests are collected: thousands of them, and all that they import, stay


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real WMT data; the test is skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}; set SIGTEST_DATA")
    return DATA


@pytest.fixture(scope="session")
def oracles(data: Path) -> Path:
    """The folder of expected values, next to the data."""
    folder = data.parent / "oracles"
    if not folder.is_dir():
        pytest.skip(f"no expected values at {folder}")
    return folder


@pytest.fixture(scope="session")
def example() -> Path:
    """The small shared task that comes with the project."""
    return EXAMPLE


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
