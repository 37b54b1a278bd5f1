"""`sigtest classify`: comparisons of labels, and of scores over data sets, in few words."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sigtest.cli.compare import compare
from sigtest.cli.files import check_output, read_bytes, shown, write
from sigtest.cli.parser import UsageError
from sigtest.cli.request import choices_of, naming, whole
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.choices import choose
from sigtest.data.names import check_name, system_name
from sigtest.data.testset import System, TestSet
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import SUMMARIES
from sigtest.files.cells import advice
from sigtest.files.file import File
from sigtest.files.registry import format_of
from sigtest.files.tables import Row, parsed
from sigtest.metrics.labels import Accuracy
from sigtest.render.formats import FORMATS
from sigtest.render.proportion import Proportion, present, proportion
from sigtest.requests.recipe import Recipe


def read_wide(path: str) -> list[dict[str, Any]]:
    """The systems of a table, each with one score for every data set.

    The columns before the first that is mostly numbers say which data set it is.

    Raises:
        InputError: No header, fewer than two columns of numbers, a cell that is no number, a system
            or data set that stands there twice, a mean of data sets among them.
        OSError: The file cannot be read.
    """
    name = shown(path)
    text = "\n".join(parse_lines(read_bytes(path), name))
    found = [*parsed(text, _separator(text.partition("\n")[0]), name)]
    if len(found) < 2:
        raise InputError(f"{name} needs a header and a line for each data set.")
    (_, header), *placed = found
    for line, row in placed:
        if len(row) != len(header):
            raise at_line(name, line, f"{len(row)} columns, but the header has {len(header)}.")
    places, rows = zip(*placed, strict=True)
    cells = [*zip(*rows, strict=True)]
    first = next((i for i, column in enumerate(cells) if _mostly_numbers(column)), len(header))
    if first == 0 or len(header) - first < 2:
        raise InputError(
            f"{name} needs a header, a first column that names data sets, and a column of numbers "
            f"for each of two systems or more; its columns are {', '.join(header)[:120]}."
        )
    systems = [check_name(system.strip()) for system in header[first:]]
    for system, count in Counter(systems).items():
        if count > 1:
            raise at_line(name, 1, f"{count} columns are called {system!r}.")
    _check_data_sets([(line, row[:first]) for line, row in placed], name)
    columns = [_numbers(own, places, name, systems[i]) for i, own in enumerate(cells[first:])]
    return [
        {"name": system, "scores": {"scores": column}}
        for system, column in zip(systems, columns, strict=True)
    ]


def _separator(header: str) -> str:
    """What stands between the names of columns."""
    return "\t" if "\t" in header else max(",;", key=header.count)


def _check_data_sets(names: Sequence[Row], file: str) -> None:
    """Check that no data set stands there twice, and no mean of them as one.

    Raises:
        InputError: One does.
    """
    seen: dict[tuple[str, ...], int] = {}
    for line, cells in names:
        told = ", ".join(cells)[:60]
        if (earlier := seen.setdefault(tuple(cells), line)) != line:
            raise at_line(file, line, f"data set {told!r} stands in line {earlier} already.")
        words = set(re.findall(r"\w+", cells[0].lower()))
        if words and words <= SUMMARIES:
            raise at_line(
                file,
                line,
                f"{told!r} sums others up by its name; take it out of the data sets.",
            )


def _mostly_numbers(column: Sequence[str]) -> bool:
    """Whether most cells are numbers, or would be with a point for a comma."""
    meant = (cell.replace(",", ".") for cell in column)
    return 2 * sum(_number(cell) is not None for cell in meant) > len(column)


def _numbers(column: Sequence[str], places: Sequence[int], name: str, system: str) -> list[float]:
    """The scores of one system.

    Raises:
        InputError: A cell that is no finite number.
    """
    numbers = []
    for line, cell in zip(places, column, strict=True):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            fix = advice(cell.strip())
            raise InputError(
                f"{name}, line {line}: {system} has {cell[:40]!r}, which is no "
                f"{'' if value is None else 'finite '}number{f'; {fix}' if fix else ''}.",
                line=line,
                system=system,
            )
        numbers.append(value)
    return numbers


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


PLAIN = ("text", "numbers")
LABELS = ("accuracy",)
SCORES = ("scores",)
OVER_DATA_SETS = ("sign_test", "signed_rank", "paired_t")


def classify(options: argparse.Namespace) -> None:
    """Compare labels or scores; or say how exact the accuracy of one system is.

    Raises:
        UsageError: Nothing to compare, or more than one thing.
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    ways = {"--gold": options.gold, "--table": options.wide, "--correct": options.correct}
    given = [way for way, value in ways.items() if value is not None]
    if len(given) != 1:
        raise UsageError(
            f"one of {', '.join(ways)} says what to compare (see sigtest classify --help)"
        )
    if options.correct is None and (options.wide is not None or len(options.systems) != 1):
        compare(options, read_labels)
        return
    check_output(options.output)
    form = FORMATS[choose(options.format, FORMATS, "format", "format")]
    write(form.render(present(_proportion(options))).encode(), options.output)


def read_labels(options: argparse.Namespace) -> Comparison:
    """The comparison of labels with gold labels, or of the columns of a table.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    if options.wide is not None:
        options.tests = options.tests or list(OVER_DATA_SETS)
    options.metrics = options.metrics or list(LABELS if options.wide is None else SCORES)
    if options.tests is None and tuple(options.metrics) == LABELS:
        options.tests = ["mcnemar"]
    choices = choices_of(options, ())
    Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
    if options.wide is not None:
        return parse_comparison({"systems": read_wide(options.wide), **choices})
    files = [_named(spelled) for spelled in options.systems]
    body = {
        "references": [_lines(options.gold)],
        "systems": [{"name": name, "hypotheses": _lines(path)} for name, path in files],
        "documents": options.documents and _lines(options.documents),
        **choices,
    }
    with naming({name: (shown(path),) for name, path in files}, [shown(options.gold)]):
        return parse_comparison(body)


def _proportion(options: argparse.Namespace) -> Proportion:
    """As counted by the caller, or of one system's labels."""
    alpha = Recipe.of(choices_of(options, LABELS)).alpha
    if options.correct is None:
        name, path = _named(options.systems[0])
        testset, system = TestSet.of([_lines(options.gold)]), System.of(name, _lines(path))
        system.require_segments(testset.segments)
        metric = Accuracy()
        with naming({name: (shown(path),)}, [shown(options.gold)]):
            metric.check(testset, system)
        right = metric.statistics(testset, system)[:, 0]
        return proportion(int(np.count_nonzero(right)), len(right), alpha, name)
    counts = {name: whole(getattr(options, name), name) for name in ("correct", "n")}
    if not isinstance(counts["n"], int) or not isinstance(counts["correct"], int):
        raise UsageError("--correct K goes with --n N (see sigtest classify --help)")
    return proportion(counts["correct"], counts["n"], alpha)


def _named(spelled: str) -> tuple[str, str]:
    """Name and file of `[NAME=]FILE`."""
    name, equals, path = spelled.partition("=")
    return (name, path) if equals else (system_name(os.path.basename(spelled)), spelled)


def _lines(path: str) -> tuple[str, ...]:
    """The lines of a file of numbers or text; what has a format of its own is no labels."""
    data, name = read_bytes(path), shown(path)
    lines = parse_lines(data, name)  # says what is wrong with an empty file
    known = format_of(File(name, data))
    if known.name not in PLAIN:
        raise InputError(f"{name} is {known.title}; give labels alone, one line an item.")
    return lines
