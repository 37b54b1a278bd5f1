"""The layout of a shared task: `reference*`, `systems/*`, perhaps `documents*` and `labels*`.

All are text with one segment a line, alone or compressed with gzip. `systems/NAME/` has a file for
each training run of one system.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from sigtest.data.imports.bounds import Meter
from sigtest.data.imports.material import Material
from sigtest.data.names import system_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError

LAYOUT = "reference* and systems/*, or one WMT .xml"
SYSTEMS = "systems"
REFERENCE = "reference"
COLUMNS = ("documents", "labels")


def wanted(path: PurePosixPath) -> bool:
    """Whether a file can be a part of the layout; hidden files and others lie there for people."""
    if any(part.startswith((".", "__MACOSX")) for part in path.parts):
        return False
    return _is_system(path) or path.name.startswith((REFERENCE, *COLUMNS))


def read_folder(files: Mapping[PurePosixPath, bytes], meter: Meter) -> Material:
    """Find the layout among files, in their root or in one folder of any depth.

    Args:
        files: All contents by path.
        meter: Counts what is unpacked further.

    Raises:
        InputError: No layout, several, a file that cannot be read, or two documents files.
    """
    root = _root(files, meter.name)
    inside = {path: data for path, data in sorted(files.items()) if wanted(path)}
    here = [path for path in inside if path.parent == root]
    columns = {
        kind: _column(kind, [p for p in here if p.name.startswith(kind)], inside, meter)
        for kind in COLUMNS
    }
    return Material(
        references=tuple(
            _lines(path, inside[path], meter) for path in here if path.name.startswith(REFERENCE)
        ),
        systems=_systems(
            {path: d for path, d in inside.items() if root / SYSTEMS in path.parents}, root, meter
        ),
        documents=columns["documents"],
        labels=columns["labels"],
    )


def _is_system(path: PurePosixPath) -> bool:
    return SYSTEMS in {path.parent.name, path.parent.parent.name}


def _systems(
    files: Mapping[PurePosixPath, bytes], root: PurePosixPath, meter: Meter
) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    """Each system with the outputs of its runs, by name."""
    outputs: dict[str, list[tuple[str, ...]]] = {}
    for path, data in files.items():
        alone = path.parent == root / SYSTEMS
        name = system_name(path.name) if alone else path.parent.name
        if alone and name in outputs:
            raise InputError(f"{meter.name} has two systems {name[:200]!r}; each needs a name.")
        outputs.setdefault(name, []).append(_lines(path, data, meter))
    return tuple((name, tuple(runs)) for name, runs in outputs.items())


def _root(files: Mapping[PurePosixPath, bytes], name: str) -> PurePosixPath:
    """The one folder that has references and systems."""
    kept = [path for path in files if wanted(path)]
    with_systems = {
        folder.parent for path in kept for folder in path.parents if folder.name == SYSTEMS
    }
    with_references = {path.parent for path in kept if path.name.startswith(REFERENCE)}
    roots = sorted(with_systems & with_references)
    if len(roots) == 1:
        return roots[0]
    if roots:
        raise InputError(f"{name} has several test sets ({roots[0]} and {roots[1]}); give one.")
    part = "no systems/*" if with_references else "no reference* beside systems"
    raise InputError(
        f"{name} has no matching files: {LAYOUT}."
        if not (with_systems or with_references)
        else f"{name} has {part}; expected {LAYOUT}."
    )


def _column(
    kind: str,
    paths: list[PurePosixPath],
    files: Mapping[PurePosixPath, bytes],
    meter: Meter,
) -> tuple[str, ...] | None:
    if len(paths) > 1:
        raise InputError(f"{meter.name} has {paths[0].name} and {paths[1].name}; one is enough.")
    return _lines(paths[0], files[paths[0]], meter) if paths else None


def _lines(path: PurePosixPath, data: bytes, meter: Meter) -> tuple[str, ...]:
    return parse_lines(meter.unzipped(data, str(path)), str(path))
