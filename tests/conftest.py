"""What all tests share: where the real data is."""

import gc
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
os.environ.setdefault("SIGTEST_METEOR", "asked")  # most services here never need it
DATA = Path(os.environ.get("SIGTEST_DATA", ROOT / ".." / "shared" / "data")).resolve()
EXAMPLE = ROOT / "examples" / "shared-task"
WAITING = ("app", "extension", "nets", "torture", "workers")  # tests that mostly wait for services
SHARING = {"app/pages": 1, "app": 2, "workers": 1}  # files that share a service, in so many groups

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
    """One process runs all tests of a group: of one file, or of those that share a service.

    Groups that wait for services and groups that compute take turns, or cores would have no work;
    those that share are long, and begin.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups: dict[str, list[pytest.Item]] = {}
    for number, (path, tests) in enumerate(files.items()):
        group = path.relative_to(ROOT / "tests").as_posix()
        shared = next((folder for folder in SHARING if group.startswith(f"{folder}/")), None)
        if shared and any("service" in getattr(test, "fixturenames", ()) for test in tests):
            group = f"{shared}, {number % SHARING[shared]}"
        groups.setdefault(group, []).extend(tests)
        for test in tests:
            test.add_marker(pytest.mark.xdist_group(group))
    waiting = [group for group in groups if group.startswith(WAITING)]
    computing = [group for group in groups if group not in waiting]
    places = {group: 0.8 * place / len(waiting) for place, group in enumerate(waiting)}
    places |= {group: place / len(computing) for place, group in enumerate(computing)}
    places |= {group: -1 for group in groups if not group.endswith(".py")}
    items[:] = [item for group in sorted(groups, key=places.__getitem__) for item in groups[group]]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
