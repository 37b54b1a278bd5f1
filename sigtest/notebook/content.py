"""What Python has in memory, as a request has it: lists and objects of strings and numbers.

Data frames and series are known by what they can do, so that neither pandas nor polars has to be
there. Files are read only where a path is given as a path, never from a string.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigtest.data.inferred import inferred_metrics
from sigtest.data.testset import LABEL
from sigtest.errors import InputError, readable
from sigtest.files import Entry, Joining, Role, gather, in_order, metric_options
from sigtest.files.gathering import COLUMNS
from sigtest.metrics import only_labels
from sigtest.notebook.frames import check_frame, is_frame, once, require_no_ids, table_of
from sigtest.requests.recipe import labels_asked

TEXTS = "one string a segment"
OUTPUTS = ("hypotheses", "replicas")


@dataclass(frozen=True)
class Imports:
    """Files that say themselves what they bring.

    Attributes:
        paths: Of files, folders or archives; data frames among them, or alone.
        missing: About segments that not all have: `error`, or `drop` them and say so.
        select: One of the test sets in them, where there are several.
        metrics: As they are asked for, if they are.
    """

    paths: object = ()
    missing: str = "error"
    select: str | None = None
    metrics: object = None

    @property
    def given(self) -> list[Entry]:
        """The files."""
        alone = isinstance(self.paths, str | os.PathLike | Mapping) or is_frame(self.paths)
        given = []
        for path in [self.paths] if alone or not _is_column(self.paths) else _listed(self.paths):
            if is_frame(path):
                given.append(Entry("anything", table_of(path), field="from_"))
                continue
            if not isinstance(path, str | os.PathLike):
                raise InputError(
                    "from_ must be a path, a data frame, or a list of such, not "
                    f"{type(path).__name__}.",
                    field="from_",
                )
            given.append(Entry("anything", Path(path)))
        return given

    @property
    def how(self) -> Joining:
        """What to do where they do not match."""
        labels, wanted = only_labels(self.metrics), labels_asked(self.metrics)
        return Joining(self.missing, self.select, labels=labels, wanted=wanted)


NOTHING = Imports()


def request_of(
    references: object,
    systems: object,
    scores: object = None,
    documents: object = None,
    labels: object = None,
    source: object = None,
    imports: Imports = NOTHING,
) -> dict[str, Any]:
    """The content of a request.

    Raises:
        SigtestError: What is no text and no number, or a file that cannot be read or used.
    """
    given = {"references": references, "documents": documents, "labels": labels, "source": source}
    _require_one_order({**given, "systems": systems, "scores": scores})
    brought = with_scores(_systems(systems), scores_by_system(scores))
    body: dict[str, Any] = {
        "references": _references(references),
        "systems": [_entry(system) for system in brought],
        "documents": _column(documents, "documents"),
        "labels": _column(labels, "labels"),
        "source": _column(source, "source"),
    }
    return {name: value for name, value in _read(body, imports).items() if value is not None}


def _require_one_order(given: Mapping[str, object]) -> None:
    """Check that frames and series of pandas with the same row labels have these in the same order.

    Raises:
        InputError: Two have not; their lines would meet by position.
    """
    indexes: list[tuple[str, Any]] = []
    for what, own in _row_labels(given):
        if any(own.equals(known) for _, known in indexes):
            continue
        for other, known in indexes:
            if len(own) == len(known) and Counter(own) == Counter(known):
                raise InputError(
                    f"{what} has the row labels of {other} in another order, and rows meet by "
                    "their places; bring both into one order (reindex).",
                    field="systems",
                )
        indexes.append((what, own))


def _row_labels(given: Mapping[Any, object], names: str = "{}") -> Iterator[tuple[str, Any]]:
    """Row labels of frames and series, with what messages call these."""
    for name, column in given.items():
        own: Any = getattr(column, "index", None)
        if hasattr(own, "equals"):
            yield names.format(name), own
        elif isinstance(column, Mapping):
            yield from _row_labels(column, "{!r}")


def scores_by_system(scores: object) -> dict[str, dict[str, Any]]:
    """Numbers by system and label, from that, from data frames, or from a column a system.

    A data frame has a column a system; several data frames are named by the label of their scores.
    """
    if scores is None:
        return {}
    columns = _columns(scores, "scores")
    if columns is not None:
        return {name: {LABEL: _listed(column)} for name, column in columns.items()}
    if not isinstance(scores, Mapping):
        raise InputError(
            "scores must be an object with the numbers of each system by its name, or a data "
            f"frame with a column for each system, not {type(scores).__name__}.",
            field="scores",
        )
    found: dict[str, dict[str, Any]] = {}
    for name, given in scores.items():
        framed = _columns(given, "scores")
        if framed is not None:
            for system, column in framed.items():
                found.setdefault(system, {})[str(name)] = _listed(column)
        elif isinstance(given, Mapping):
            own = {label: _numbers(rows, name, label) for label, rows in given.items()}
            found.setdefault(name, {}).update(own)
        else:
            found.setdefault(name, {})[LABEL] = _numbers(given, name, LABEL)
    return found


def with_scores(brought: list[Any], scores: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """What each system brings; numbers beside hypotheses where it has both."""
    systems = list(brought)
    named = {entry.get("name"): i for i, entry in enumerate(systems) if isinstance(entry, Mapping)}
    for name, numbers in scores.items():
        if name in named:
            own = systems[named[name]]
            systems[named[name]] = {**own, "scores": {**(own.get("scores") or {}), **numbers}}
        else:
            systems.append({"name": name, "scores": numbers})
    return systems


def _references(references: object) -> Any:
    """One reference set or several, a path where it is one."""
    if isinstance(references, os.PathLike) or references is None:
        return references if references is not None else []
    columns = _columns(references, "references")
    if columns is not None:
        return [_texts(column) for column in columns.values()]
    entries = _texts(references, "references")
    first = next((entry for entry in entries if entry is not None), None)
    if first is None or isinstance(first, str | os.PathLike) or not _is_column(first):
        return entries
    return [_column(entry, f"references[{i}]") for i, entry in enumerate(entries)]


def _systems(systems: object) -> list[Any]:
    """Objects with a name each."""
    if systems is None:
        return []
    columns = _columns(systems, "systems")
    if columns is not None:
        return [{"name": name, "hypotheses": column} for name, column in columns.items()]
    if isinstance(systems, Mapping):
        return [{"name": name, **_output(name, given)} for name, given in systems.items()]
    if isinstance(systems, str | bytes) or not isinstance(systems, Iterable):
        raise InputError(
            "systems must be an object with the lines of each system by its name, or a data frame "
            f"with a column for each, not {type(systems).__name__}.",
            field="systems",
        )
    return list(systems)


def _output(name: object, given: object) -> dict[str, Any]:
    """What a system brings: its lines, a path, those of several runs, or an object of such."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, os.PathLike):
        return {"hypotheses": given}
    lines = _texts(given, f"systems[{name!r}]")
    first = next(iter(lines), None)
    runs = first is not None and not isinstance(first, str) and _is_column(first)
    return {"replicas" if runs or isinstance(first, os.PathLike) else "hypotheses": lines}


def _entry(system: Any) -> Any:
    """One system, its columns as lists; what is no object is left to be refused."""
    if not isinstance(system, Mapping):
        return system
    entry = dict(system)
    what = f"systems[{entry.get('name')!r}]"
    if entry.get("hypotheses") is not None:
        entry["hypotheses"] = _column(entry["hypotheses"], what)
    if entry.get("replicas") is not None:
        runs = _texts(entry["replicas"], what)
        entry["replicas"] = [_column(run, what) for run in runs]
    if isinstance(entry.get("scores"), Mapping):
        entry["scores"] = {
            label: _numbers(rows, entry.get("name"), label)
            for label, rows in entry["scores"].items()
        }
    return entry


def _column(given: object, what: str) -> Any:
    """Lines as a list, or a path to them."""
    if given is None or isinstance(given, os.PathLike):
        return given
    return _texts(given, what)


def _texts(given: object, what: str = "references") -> list[Any]:
    """The entries of a column, missing ones as None.

    Raises:
        InputError: Text, an object, or a single value.
    """
    if isinstance(given, str | bytes):
        raise InputError(
            f"{what} must be a list with {TEXTS}, not one string; a file is given as "
            "pathlib.Path(...).",
            field=what,
        )
    if isinstance(given, Mapping) or not _is_column(given):
        raise InputError(
            f"{what} must be a list with {TEXTS}, not {type(given).__name__}.", field=what
        )
    return [
        entry if isinstance(entry, str) or not _is_missing(entry) else None
        for entry in _listed(given)
    ]


def _numbers(given: object, system: object, label: object) -> Any:
    """The numbers of a system under a label."""
    if isinstance(given, str | bytes | Mapping) or not _is_column(given):
        raise InputError(
            f"The {label!r} scores of system {system!r} must be a list with one number a segment, "
            f"not {type(given).__name__}.",
            field="scores",
            system=str(system),
        )
    return [
        [*map(_scalar, _listed(row))] if _is_column(row) else _scalar(row) for row in _listed(given)
    ]


def _columns(given: object, field: str) -> dict[str, Any] | None:
    """The columns of a data frame, by name; nothing where it is none."""
    check_frame(given)
    names = getattr(given, "columns", None)
    if names is None or isinstance(given, Mapping) or not hasattr(given, "__getitem__"):
        return None
    once(names, field)
    require_no_ids(names, field)
    return {str(name): given[name] for name in list(names)}


def _is_column(given: object) -> bool:
    """Whether it has entries in an order; arrays and tensors without an axis have none."""
    if getattr(given, "ndim", None) == 0:
        return False
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | set | frozenset)


def _scalar(entry: Any) -> Any:
    """A number of NumPy, or an array or tensor without an axis, as a number; so are truths."""
    plain = entry.item() if getattr(entry, "ndim", None) == 0 else entry
    return int(plain) if isinstance(plain, bool) else plain


def _listed(column: Any) -> list[Any]:
    """A series, an array, a sequence or an iterator as a list."""
    # polars and pandas; NumPy; pyarrow; xarray
    for method in ("to_list", "tolist", "to_pylist", "to_numpy"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _is_missing(entry: object) -> bool:
    """None, NaN, and what pandas has for either; only the latter two differ from themselves."""
    if entry is None or type(entry).__name__ == "NAType":
        return True
    return isinstance(entry, float) and entry != entry


def _read(body: dict[str, Any], imports: Imports) -> dict[str, Any]:
    """The body with files read and put together, so that segments meet by their ids."""
    given = [*imports.given, *_files(body)]
    if not given:
        return body
    with readable():
        material = gather(given, imports.how).material
    roles = {entry.role for entry in given}
    if body["references"] and "reference" not in roles:  # lines in memory have no ids
        material = in_order(material)
    found = material.as_json()
    own = {system["name"]: system for system in found["systems"]}
    names = {system.get("name") for system in body["systems"] if isinstance(system, Mapping)}
    systems = [system for name, system in own.items() if name not in names]
    for system in body["systems"]:
        named = isinstance(system, Mapping) and system.get("name") in own
        systems.append(_merged(system, own[system["name"]]) if named else system)
    read = {**body, "systems": systems, "notes": found.get("notes"), "runs": found.get("runs")}
    if "reference" in roles or not body["references"]:
        read["references"] = found["references"]
    for column in COLUMNS:
        if column in roles or (read[column] is None and column in found):
            read[column] = found[column]
    if any((told := metric_options(material)).values()):  # which the numbers alone do not say
        read["metrics"] = inferred_metrics(*_brought(read), told)
    return read


def _brought(body: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Labels of scores by system, and whether there are texts to compare."""
    systems = [system for system in body["systems"] if isinstance(system, Mapping)]
    texts = bool(body["references"]) and all(any(map(s.get, OUTPUTS)) for s in systems)
    return {str(s.get("name")): s.get("scores") or {} for s in systems}, texts


def _merged(system: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What a system brings, with what was read of it in the place of paths."""
    texts = {part: own[part] for part in OUTPUTS if own.get(part)}
    scores = {**own.get("scores", {}), **(system.get("scores") or {})}
    kept = {
        part: value
        for part, value in system.items()
        if part not in OUTPUTS or not any(_paths("system", value))
    }
    return {**kept, **texts, **({"scores": scores} if scores else {})}


def _files(body: Mapping[str, Any]) -> Iterable[Entry]:
    """Everything that is a path."""
    yield from _paths("reference", body["references"])
    for system in body["systems"]:
        if isinstance(system, Mapping):
            name = system.get("name")
            yield from _paths("system", system.get("hypotheses"), name)
            yield from _paths("system", system.get("replicas"), name, run=True)
    for role in COLUMNS:
        yield from _paths(role, body[role])


def _paths(
    role: Role, given: object, system: str | None = None, run: bool = False
) -> Iterable[Entry]:
    entries: Sequence[object] = given if isinstance(given, list) else [given]
    for entry in entries:
        if not isinstance(entry, str) and isinstance(entry, os.PathLike):
            yield Entry(role, Path(entry), system, run=run)
