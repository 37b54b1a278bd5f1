"""What Python has in memory, as requests have it: texts, numbers, lists and objects of such.

Data frames and series are known by what they can do, so that neither pandas nor polars has to be
there. Files are read only where a path is given as a path, never from a string.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sigtest.data.testset import LABEL, inferred_metrics
from sigtest.errors import InputError, quoted, readable
from sigtest.files.gathering import COLUMNS, Entry, Role, Upload, gather
from sigtest.files.join import Joining
from sigtest.files.judgements import read_scores
from sigtest.files.material import in_order, metric_options
from sigtest.files.tables import is_index, role_of
from sigtest.files.tree import GZIP, unpacking
from sigtest.kinds import FormFile
from sigtest.metrics import only_labels
from sigtest.requests.recipe import labels_needed

Body = dict[str, Any]  # what a request has
OUTPUTS = ("hypotheses", "replicas")
JOINING = ("missing", "columns")
CONTENT = ("references", "systems", "scores", *COLUMNS, "from_", "select")
ABOUT_ROWS = {"id", "run", "document", "domain", "testset"}  # roles of columns


# columns and cells


def plain(value: Any) -> Any:
    """Numbers, text, lists and objects as JSON has them; a missing number is none."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    for method in ("tolist", "to_list"):  # NumPy and pandas; polars
        if hasattr(value, method):
            value = getattr(value, method)()
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and value != value else value


def _is_column(value: object) -> bool:
    """Whether it has entries in an order; arrays and tensors without an axis have none."""
    if getattr(value, "ndim", None) == 0:
        return False
    return isinstance(value, Iterable) and not isinstance(
        value, str | bytes | set | frozenset | Mapping
    )


def _listed(column: Any) -> list[Any]:
    """A series, an array, a sequence or an iterator as a list."""
    # polars and pandas; NumPy; pyarrow; xarray
    for method in ("to_list", "tolist", "to_pylist", "to_numpy"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _scalar(cell: Any) -> Any:
    """A number of NumPy, or an array or tensor without an axis, as a number; so are truths."""
    number = cell.item() if getattr(cell, "ndim", None) == 0 else cell
    return int(number) if isinstance(number, bool) else number


def _is_missing(cell: Any) -> bool:
    """None, NaN, and what pandas has for either; only NaN differs from itself."""
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or is_nan or type(cell).__name__ == "NAType"


def _numbers(values: object, system: object, label: object) -> list[Any]:
    """The numbers of a system under a label, or tuples of such."""
    if not _is_column(values):
        raise InputError(
            f"The {label!r} scores of system {system!r} must be a list with one number a segment, "
            f"not {type(values).__name__}.",
            field="scores",
            system=str(system),
        )
    return [
        [*map(_scalar, _listed(row))] if _is_column(row) else _scalar(row)
        for row in _listed(values)
    ]


def _lines(lines: Any, what: str) -> Any:
    """Lines as a list, missing ones as None, or lists of such; paths as they are.

    Raises:
        InputError: Text, an object, or a single value.
    """
    if lines is None or isinstance(lines, os.PathLike):
        return lines
    if not _is_column(lines):
        found = type(lines).__name__
        if isinstance(lines, str | bytes):
            found = "one string; a file is given as pathlib.Path(...)"
        raise InputError(
            f"{what} must be a list with one string a segment, not {found}.", field=what
        )
    entries = [None if _is_missing(entry) else entry for entry in _listed(lines)]
    first = next((entry for entry in entries if entry is not None), None)
    if isinstance(first, os.PathLike) or not _is_column(first):
        return entries
    return [_lines(entry, f"{what}[{i}]") for i, entry in enumerate(entries)]


# data frames


def is_frame(value: object) -> bool:
    """Whether it has named columns and can list its rows; what only becomes one is refused."""
    _check_frame(value)
    return hasattr(value, "columns") and (hasattr(value, "to_dicts") or hasattr(value, "to_dict"))


def _check_frame(value: object) -> None:
    """Refuse a lazy frame of polars, which has no rows yet, and a table of pyarrow."""
    if hasattr(value, "column_names") and hasattr(value, "to_pandas"):
        raise InputError(
            f"{type(value).__name__} is no data frame of pandas or polars; give what its "
            "to_pandas() returns."
        )
    if hasattr(value, "collect") and hasattr(value, "collect_schema"):
        raise InputError("A lazy data frame has no rows yet; give what its collect() returns.")


def _require_distinct(names: Iterable[object], field: str) -> None:
    """Check that names of columns, or of entries of a series, tell these apart."""
    twice = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if twice:
        raise InputError(
            f"{field} has more than one column or entry named {twice[0]!r}; each needs a name of "
            "its own.",
            field=field,
        )


def _columns(frame: Any, field: str) -> dict[str, Any] | None:
    """The columns of a frame that has one for each system or reference set; nothing if it is none.

    Raises:
        InputError: Two of one name, or one that is about rows, as an index is that became a column.
    """
    _check_frame(frame)
    names = getattr(frame, "columns", None)
    if names is None or isinstance(frame, Mapping) or not hasattr(frame, "__getitem__"):
        return None
    _require_distinct(names, field)
    about = next((n for n in map(str, names) if is_index(n) or role_of(n) in ABOUT_ROWS), None)
    if about is not None:
        raise InputError(
            f"{field} has a column {about!r}, which is about rows by its name, and every column "
            f"is a {'reference set' if field == 'references' else 'system'} here; leave it out, "
            "make it the index, or give a frame with columns as tables have as from_.",
            field=field,
        )
    return {str(name): frame[name] for name in list(names)}


def _table(frame: Any, field: str) -> Upload:
    """A frame as a table, which is read as one that lies in a file.

    Args:
        frame: Of pandas, whose index counts if it has a name, or of polars.
        field: Where it was given.

    Raises:
        InputError: No rows, two columns of one name, or a cell that is no text and no number.
    """
    _require_distinct(frame.columns, field)
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    else:
        named = any(label is not None for label in frame.index.names)
        rows = (frame.reset_index() if named else frame).to_dict("records")
    if not rows:
        raise InputError(f"{field} has a data frame without rows.", field=field)
    lines = []
    for i, row in enumerate(rows, 1):
        try:
            cells = {str(column): _cell(cell) for column, cell in row.items()}
            lines.append(json.dumps(cells, ensure_ascii=False) + "\n")
        except (TypeError, ValueError):
            raise InputError(
                f"Row {i} of a data frame: cells must be texts or numbers ({row!a:.80}).",
                field=field,
            ) from None
    return Upload(LABEL, "".join(lines).encode())


def _cell(cell: Any) -> Any:
    """A cell as JSON has it; what is missing as null."""
    if type(cell).__name__ in {"NAType", "NaTType"}:
        return None
    value = cell.item() if hasattr(cell, "item") else cell
    return None if _is_missing(value) else value


# texts and scores of systems


def content_of(options: Mapping[str, Any]) -> Body:
    """What a comparison is about, from those of its options that CONTENT names.

    Raises:
        SigtestError: What is no text and no number, or a file that cannot be read or used.
    """
    _require_one_order({name: options.get(name) for name in CONTENT if name != "from_"})
    references = options.get("references")
    sets = _columns(references, "references")
    body: Body = {
        "references": _lines([*sets.values()] if sets else references, "references") or [],
        "systems": [*map(_system, _systems(options.get("systems"), options.get("scores")))],
        **{column: _lines(options.get(column), column) for column in COLUMNS},
    }
    return {name: value for name, value in _joined(body, options).items() if value is not None}


def _require_one_order(content: Mapping[str, object]) -> None:
    """Check that frames and series of pandas with the same row labels have these in the same order.

    Raises:
        InputError: Two have not; their lines would meet by position.
    """
    indexes: list[tuple[str, Any]] = []
    for what, index in _row_labels(content):
        if any(index.equals(known) for _, known in indexes):
            continue
        for other, known in indexes:
            if len(index) == len(known) and Counter(index) == Counter(known):
                raise InputError(
                    f"{what} has the row labels of {other} in another order, and rows meet by "
                    "their places; bring both into one order (reindex).",
                    field="systems",
                )
        indexes.append((what, index))


def _row_labels(content: Mapping[Any, object], names: str = "{}") -> Iterator[tuple[str, Any]]:
    """Row labels of frames and series, with what messages call these."""
    for name, column in content.items():
        index: Any = getattr(column, "index", None)
        if hasattr(index, "equals"):
            yield names.format(name), index
        elif isinstance(column, Mapping):
            yield from _row_labels(column, "{!r}")


def _systems(systems: Any, scores: Any) -> list[Any]:
    """Objects with a name each: what a system brings, and scores where they stand alone."""
    columns = _columns(systems, "systems")
    systems = systems if columns is None else columns
    if isinstance(systems, Mapping):
        systems = [
            {"name": name, **(brings if isinstance(brings, Mapping) else _output(name, brings))}
            for name, brings in systems.items()
        ]
    elif systems is not None and not _is_column(systems):
        raise InputError(
            "systems must be an object with the lines of each system by its name, or a data frame "
            f"with a column for each, not {type(systems).__name__}.",
            field="systems",
        )
    found = [] if systems is None else list(systems)
    places = {}
    for i, entry in enumerate(found):
        if isinstance(entry, Mapping):
            _require_mergeable(entry, f"systems[{i}]")
            places[entry.get("name")] = i
    for name, numbers in _scores(scores).items():
        if name in places:
            entry = found[places[name]]
            found[places[name]] = {**entry, "scores": {**(entry.get("scores") or {}), **numbers}}
        else:
            found.append({"name": name, "scores": numbers})
    return found


def _require_mergeable(system: Mapping[Any, Any], field: str) -> None:
    """Check what has to be known of a system before its parts are put together."""
    name, wrong = system.get("name"), f"{field}.scores"
    why = f"The scores of system {name!r} must be an object with a list of numbers a label."
    if not isinstance(name, str | int | None):
        wrong, why = f"{field}.name", f"{field}.name must be text, not {quoted(name)}."
    elif isinstance(system.get("scores"), Mapping | None):
        return
    raise InputError(why, field=wrong)


def _output(name: object, brings: object) -> Body:
    """A system's lines, a path, or those of several runs."""
    what = f"systems[{name!r}]"
    lines = _lines(brings, what)
    if lines is None:
        raise InputError(f"{what} must be a list with one string a segment, not None.", field=what)
    runs = isinstance(lines, list) and lines and isinstance(lines[0], list | os.PathLike)
    return {"replicas" if runs else "hypotheses": lines}


def _scores(scores: object) -> dict[Any, Body]:
    """Columns of numbers by system and label, from that, data frames, or a column a system.

    A data frame has a column a system; several data frames are named by the label of their scores.
    """
    columns = _columns(scores, "scores")
    if columns is not None:
        return {name: {LABEL: column} for name, column in columns.items()}
    if not isinstance(scores, Mapping | None):
        raise InputError(
            "scores must be an object with the numbers of each system by its name, or a data "
            f"frame with a column for each system, not {type(scores).__name__}.",
            field="scores",
        )
    found: dict[Any, Body] = {}
    for name, numbers in dict(scores or {}).items():
        columns = _columns(numbers, "scores")
        if columns is None:
            labelled = numbers if isinstance(numbers, Mapping) else {LABEL: numbers}
            found.setdefault(name, {}).update(labelled)
        for system, column in (columns or {}).items():
            found.setdefault(system, {})[str(name)] = column
    return found


def _system(system: Any) -> Any:
    """One system, its columns as lists; what is no object is left to be refused."""
    if not isinstance(system, Mapping):
        return system
    name, entry = system.get("name"), dict(system)
    for part in OUTPUTS:
        if part in entry:
            entry[part] = _lines(entry[part], f"systems[{name!r}]")
    if isinstance(entry.get("scores"), Mapping):
        entry["scores"] = {
            label: _numbers(rows, name, label) for label, rows in entry["scores"].items()
        }
    return entry


# files among them


def _joined(body: Body, options: Mapping[str, Any]) -> Body:
    """The body with files read and put together, so that segments meet by their ids."""
    entries = [*_imports(options.get("from_", ())), *_files(body)]
    if not entries:
        return body
    metrics, testset = options.get("metrics"), options.get("select")
    labels, wanted = only_labels(metrics), labels_needed(metrics)
    missing, columns = options.get("missing", "error"), options.get("columns")
    apart = bool(options.get("unpaired"))
    how = Joining(missing, testset, False, labels, wanted, columns=columns, unpaired=apart)
    with readable():
        material = gather(entries, how)
    roles = {entry.role for entry in entries}
    if body["references"] and "reference" not in roles:  # lines in memory have no ids
        material = in_order(material)
    found = material.as_json()
    read = {system["name"]: system for system in found["systems"]}
    systems = [_merged(entry, read) for entry in body["systems"]]
    names = {entry.get("name") for entry in body["systems"] if isinstance(entry, Mapping)}
    whole = {**body, **material.usual, "notes": found.get("notes"), "runs": found.get("runs", ())}
    whole["systems"] = [entry for name, entry in read.items() if name not in names] + systems
    if "reference" in roles or not body["references"]:
        whole["references"] = found["references"]
    for column in COLUMNS:
        if column in roles or (whole[column] is None and column in found):
            whole[column] = found[column]
    if any((said := metric_options(material)).values()):  # which the numbers alone do not say
        objects = [entry for entry in whole["systems"] if isinstance(entry, Mapping)]
        scores = {str(entry.get("name")): entry.get("scores") or {} for entry in objects}
        texts = bool(whole["references"]) and all(any(map(s.get, OUTPUTS)) for s in objects)
        whole["metrics"] = inferred_metrics(scores, texts, said)
    return whole


def _imports(paths: Any) -> Iterator[Entry]:
    """Files that say themselves what they bring, and data frames as such files."""
    alone = isinstance(paths, str) or is_frame(paths) or not _is_column(paths)
    for path in [paths] if alone else _listed(paths):
        if is_frame(path):
            yield Entry("anything", _table(path, "from_"), field="from_")
        elif isinstance(path, str | os.PathLike):
            yield Entry("anything", Path(path))
        else:
            raise InputError(
                "from_ must be a path, a data frame, or a list of such, not "
                f"{type(path).__name__}.",
                field="from_",
            )


def _files(body: Body) -> Iterator[Entry]:
    """Everything that is a path."""
    yield from _paths("reference", body["references"])
    for system in body["systems"]:
        if isinstance(system, Mapping):
            for part in OUTPUTS:
                yield from _paths(
                    "system", system.get(part), system.get("name"), part == "replicas"
                )
    for role in COLUMNS:
        yield from _paths(role, body[role])


def _paths(role: Role, part: Any, system: str | None = None, run: bool = False) -> Iterator[Entry]:
    for entry in part if isinstance(part, list) else [part]:
        if isinstance(entry, os.PathLike):
            yield Entry(role, Path(entry), system, run=run)


def _merged(system: Any, read: Mapping[Any, Body]) -> Any:
    """What a system brings, with what was read of it in the place of paths."""
    if not isinstance(system, Mapping) or system.get("name") not in read:
        return system
    found = read[system["name"]]
    texts = {part: found[part] for part in OUTPUTS if found.get(part)}
    scores = {**found.get("scores", {}), **(system.get("scores") or {})}
    rest = {k: v for k, v in system.items() if k not in OUTPUTS or not any(_paths("system", v))}
    return {**rest, **texts, **({"scores": scores} if scores else {})}


# judgements, and scores by people and metrics


def file_of(part: str, path: str | Path) -> FormFile:
    """A file as it is sent, decompressed unless it is an archive."""
    with readable():
        data = Path(path).read_bytes()
    if data.startswith(GZIP) and part != "evalset":
        with unpacking(io.BytesIO(data), str(path)) as inner:
            data = inner.read()
    return FormFile(part, str(path).removesuffix(".gz"), data)


def path_of(value: object, field: str) -> Path:
    """A path that is given as text or as a path.

    Raises:
        InputError: Something else.
    """
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{field} must be a path, not {type(value).__name__}.", field=field)
    return Path(value)


def labels_of(value: Any, field: str) -> list[Any]:
    """Labels of metrics, of which there may be one.

    Raises:
        InputError: No list.
    """
    if isinstance(value, str):
        return [value]
    if not _is_column(value):
        kind = type(value).__name__
        raise InputError(f"{field} must be a list of labels, not {kind}.", field=field)
    return _listed(value)


def judgements_of(people: Any) -> tuple[list[FormFile], Body]:
    """Files of judgements, or rows for a request.

    Raises:
        InputError: Neither paths nor a data frame, rows or columns; a file that cannot be read.
    """
    flaw = None
    if people is None:
        flaw = "is missing: paths of files, a data frame, rows or columns."
    elif isinstance(people, str | Path):
        return [file_of("judgements", people)], {}
    elif is_frame(people):
        table = _table(people, "judgements")
        return [FormFile("judgements", "the data frame", table.data)], {}
    elif isinstance(people, Mapping):
        columns = plain(people)
        lengths = {len(own) if isinstance(own, list) else None for own in columns.values()}
        if len(lengths) == 1 and None not in lengths:
            rows = zip(*columns.values(), strict=True)
            return [], {"judgements": [dict(zip(columns, row, strict=True)) for row in rows]}
        flaw = "must be columns, lists of equal lengths, by name: system, segment, score and more."
    elif not isinstance(people, Iterable) or getattr(people, "ndim", None) == 0:
        flaw = "must be paths, a data frame, rows or columns."
    if flaw:
        raise InputError(f"judgements {flaw}", field="judgements")
    entries = list(people)
    if entries and all(isinstance(entry, str | Path) for entry in entries):
        return [file_of("judgements", entry) for entry in entries], {}
    return [], {"judgements": plain(entries)}


def people_of(people: Any) -> tuple[list[FormFile], Body]:
    """As `judgements_of`; or scores by people, as those of a metric."""
    if people is None:
        raise InputError(
            "judgements is missing: judgements by people, or their scores, such as "
            '{"A": 0.31, "B": 0.12, "C": -0.05}.',
            field="judgements",
        )
    if not is_frame(people) and (isinstance(people, Mapping) or hasattr(people, "to_dict")):
        scores = metric_of(people)
        if not {"system", "segment", "score"} & set(next(iter(scores.values()), ())):
            return [], {"scores": scores}
    return judgements_of(people)


def metric_of(scores: Any) -> Body:
    """Scores of systems or of segments, as a request has them under their level.

    Args:
        scores: A file's, or numbers by system.
    """
    if isinstance(scores, str | Path):
        file = file_of("scores", scores)
        return read_scores(file.data, file.name)
    if hasattr(scores, "to_dict"):
        for names in ("columns", "index"):
            _require_distinct(getattr(scores, names, ()), "scores")
        scores = scores.to_dict()
    if not isinstance(scores, Mapping):
        raise InputError("Scores must be a path, or numbers by system.", field="metrics")
    rows: Body = plain(scores)
    if rows and set(rows) <= {"system", "segment", "higher", "pairs"}:
        return rows
    several = any(isinstance(own, list | dict) for own in rows.values())
    return {"segment" if several else "system": rows}
