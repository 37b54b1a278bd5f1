"""The package as others install it: a wheel, on its own, with nothing but what it asks for."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
DRIVER = """
import json, sys
sys.path.insert(0, {site!r})
from sigtest.cli import main
status = main({arguments!r})
with open({told!r}, "w") as file:
    json.dump([status, sorted(sys.modules), sys.modules["sigtest"].__file__], file)
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", str(folder)], cwd=ROOT, check=True, timeout=300)
    (made,) = folder.glob("*.whl")
    return made


def run(site: Path, folder: Path, *arguments: str) -> tuple[str, str, list[str], float]:
    """Output, errors, modules and seconds of one run of the installed package's command."""
    told = folder / "told.json"
    code = DRIVER.format(site=str(site), arguments=list(arguments), told=str(told))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    # where a user's other installation may have kept kernels
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment,
        capture_output=True, text=True, check=True, timeout=500,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    status, modules, where = json.loads(told.read_text())
    assert status == 0, done.stderr
    assert Path(where).is_relative_to(site)
    return done.stdout, done.stderr, modules, seconds


def required() -> set[str]:
    """Modules of the package's requirements and of all that these require."""
    waiting = [Requirement(line) for line in importlib.metadata.requires("sigtest") or ()]
    names: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        extras = requirement.extras or {""}
        marked = requirement.marker
        if marked is not None and not any(marked.evaluate({"extra": extra}) for extra in extras):
            continue
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name not in names:
            names.add(name)
            waiting += [Requirement(line) for line in importlib.metadata.requires(name) or ()]
    return names


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles_and_the_second_does_not(wheel, tmp_path, example):
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    files = [str(example / f"systems/{name}.en") for name in ("aspen", "birch")]
    command = ["compare", "-r", str(example / "reference.en"), *files, "--resamples", "199"]
    shown, said, modules, _ = run(site, tmp_path, *command)
    assert said.startswith("sigtest: compiling numeric kernels")
    again, nothing, _, _ = run(site, tmp_path, *command)
    assert (again, nothing) == (shown, "")
    loaded = {name.partition(".")[0] for name in modules}
    known = importlib.metadata.packages_distributions()
    asked = required() | {"sigtest"}
    foreign = {
        name
        for name in loaded & known.keys()
        if not {re.sub(r"[-_.]+", "-", own).lower() for own in known[name]} & asked
    }
    assert foreign - BESIDE == set()


BESIDE = {"_distutils_hack"}  # setuptools loads it everywhere


def test_the_wheel_has_what_it_reads_and_no_service(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        told = packed.read(metadata).decode()
    assert {"sigtest/papers.bib", "sigtest/py.typed", "sigtest/render/page.css"} <= set(names)
    assert not [name for name in names if name.startswith(("app/", "workers/", "tests/"))]
    extras = ["excel", "ja", "ko", "meteor", "pictures", "spm", "zstd"]
    assert re.findall(r"^Provides-Extra: (.*)$", told, re.M) == extras


def test_what_a_package_index_shows_needs_nothing_beside_it(wheel):
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = [name for name in packed.namelist() if name.endswith("METADATA")]
        shown = packed.read(metadata).decode().partition("\n\n")[2]
    assert shown == (ROOT / "sigtest" / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)|<img|src=", shown)
    assert [link for link in links if not link.startswith("https://")] == []
    assert len(shown.splitlines()) < 70


def test_the_example_that_a_package_index_shows_is_what_is_printed(
    example, tmp_path, monkeypatch, capfdbinary
):
    from sigtest.cli import main

    shown = (ROOT / "sigtest" / "README.md").read_text(encoding="utf-8")
    _, printed, *_ = re.findall(r"^```\n(.*?)^```", shown, re.M | re.S)
    monkeypatch.chdir(example)
    assert main(["compare", "-r", "reference.en", "systems/aspen.en", "systems/birch.en"]) == 0
    assert capfdbinary.readouterr().out.decode().startswith(printed)
    (code,) = re.findall(r"^```python\n(.*?)^```", shown, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert (tmp_path / "systems.tex").exists()
