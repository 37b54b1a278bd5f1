"""What all tests share: where the real data is."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
os.environ.setdefault("SIGTEST_METEOR", "asked")  # most services here never need it
DATA = Path(os.environ.get("SIGTEST_DATA", ROOT / ".." / "shared" / "data")).resolve()
EXAMPLE = ROOT / "examples" / "shared-task"
WAITING = ("app", "torture", "workers")  # folders whose tests mostly wait for services

# the same examples in every run, however busy the machine is
settings.register_profile(
    "sigtest", deadline=None, derandomize=True, suppress_health_check=[*HealthCheck]
)
settings.load_profile("sigtest")

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that wait for services and files that compute take turns, or cores would have no work.

    The last ones compute, which takes less long, so that all processes end at about the same time.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for path in files if path.relative_to(ROOT).parts[1] in WAITING]
    computing = [path for path in files if path not in waiting]
    places = {path: 0.8 * place / len(waiting) for place, path in enumerate(waiting)}
    places |= {path: place / len(computing) for place, path in enumerate(computing)}
    items[:] = [item for path in sorted(files, key=places.__getitem__) for item in files[path]]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
