"""`sigtest classify`: comparisons of labels, and of scores over data sets, in few words."""

from __future__ import annotations

import argparse
import os

import numpy as np

from sigtest.cli.compare import compare
from sigtest.cli.files import check_output, read_bytes, shown, write
from sigtest.cli.parser import UsageError
from sigtest.cli.request import choices_of, naming, whole
from sigtest.cli.wide import read_wide
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.choices import choose
from sigtest.data.names import system_name
from sigtest.data.testset import System, TestSet
from sigtest.data.text import parse_lines
from sigtest.errors import InputError
from sigtest.files.file import File
from sigtest.files.registry import format_of
from sigtest.metrics.labels import Accuracy
from sigtest.render.formats import FORMATS
from sigtest.render.proportion import Proportion, present, proportion
from sigtest.requests.recipe import Recipe

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
