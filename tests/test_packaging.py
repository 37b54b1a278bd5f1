"""Files about installing and citing agree with the code and with each other."""

import importlib.util
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sigtest.version import __version__

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = SETTINGS["project"], SETTINGS["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text(name), re.M))


def wanted(*sets: str) -> list[Requirement]:
    named = [(EXTRAS | GROUPS)[name] for name in sets]
    return [Requirement(line) for line in sum(named, PROJECT["dependencies"])]


@pytest.mark.parametrize(
    ("constraints", "sets"),
    [
        ("constraints.txt", (*EXTRAS, *GROUPS)),
        ("constraints-service.txt", ("service", "build")),
    ],
)
def test_pins_are_within_what_is_asked_for(constraints, sets):
    pinned = pins(constraints)
    for requirement in wanted(*sets):
        version = pinned[requirement.name.lower().replace("_", "-")]
        assert version in requirement.specifier, requirement


def test_the_service_has_the_versions_that_are_tested():
    assert pins("constraints-service.txt").items() <= pins("constraints.txt").items()


def test_pins_name_no_address_and_have_hashes():
    for name in ("constraints.txt", "constraints-service.txt"):
        lines = text(name).splitlines()
        assert not [line for line in lines if "//" in line or line.startswith("-")]
        for pin, following in pairwise(lines):
            assert "==" not in pin or following.startswith("    --hash=sha256:"), pin


def test_the_image_is_built_from_what_it_is_given():
    admitted = re.findall(r"^!(\S+)$", text(".dockerignore"), re.M)
    copied = [
        source
        for line in re.findall(r"^COPY (?:--\S+ )*(.+)$", text("Dockerfile"), re.M)
        for source in line.split()[:-1]
    ]
    assert sorted(copied) == sorted(admitted)
    assert all((ROOT / source).exists() for source in copied)


def test_containers_run_modules_that_exist():
    named = re.findall(r'"-m", "([\w.]+)"', text("docker-compose.yml") + text("Dockerfile"))
    named += re.findall(r"python -m ([\w.]+)", text("Dockerfile") + text("docs/OPERATIONS.md"))
    assert named
    assert [name for name in named if importlib.util.find_spec(name) is None] == []


def test_what_the_threat_model_names_is_tested():
    named = re.findall(r"`(tests/[\w/]+\.py)`", text("SECURITY.md"))
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_version_is_the_same_everywhere():
    assert re.search(rf"^version: {re.escape(__version__)}$", text("CITATION.cff"), re.M)
    first = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.M)
    assert first is not None
    assert first[1] == __version__


def test_what_the_architecture_names_exists():
    named = re.findall(
        r"`((?:sigtest|validation|workers|app)/[\w/.]*)`", text("docs/ARCHITECTURE.md")
    )
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_faults_are_planted_in_the_code_as_it_stands():
    for fault in tomllib.loads(text("tests/mutants/faults.toml"))["fault"]:
        assert text(fault["path"]).count(fault["before"]) == 1, fault["name"]
