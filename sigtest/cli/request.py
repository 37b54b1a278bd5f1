"""From options and files to a comparison, with the names of the files in every message."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sigtest.cli.files import gathered, joining_of, read, shown
from sigtest.cli.parser import UsageError
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.inferred import NOTHING, MetricOptions
from sigtest.data.names import system_name
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.files import Entry, Joining, Material, metric_options, metrics_of
from sigtest.requests.options import words_of
from sigtest.requests.recipe import ANY_METRIC, OPTIONS, Recipe, of_labels


def read_comparison(options: argparse.Namespace) -> Comparison:
    """The comparison that was asked for.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    check_choices(options)
    found = gathered(options)
    material = found.material
    if material.systems and not (material.references or material.scores):
        raise InputError("No references: give them with -r FILE, or scores with --scores.")
    choices = choices_of(options, metrics_of(material), metric_options(material))
    body = {**material.as_json(), **choices}
    with naming(found.files, [shown(path) for path in options.reference]):
        return parse_comparison(body)


def check_choices(options: argparse.Namespace) -> None:
    """Check the recipe before any file is read: a wrong option is cheaper to find.

    Raises:
        RecipeError: Something in it that no file can make right.
    """
    Recipe.of(choices_of(options, [ANY_METRIC], told=None))


@contextmanager
def naming(files: Mapping[str, tuple[str, ...]], references: Sequence[str]) -> Iterator[None]:
    """Errors about a system or about the references name their files.

    Args:
        files: Of each system.
        references: Those of the references.
    """
    try:
        yield
    except SigtestError as error:
        of_references = references if error.field == "references" else ()
        own = of_references if error.system is None else files.get(error.system, ())
        if not own:
            raise
        raise InputError(f"{', '.join(own)}: {error.message}") from error


def choices_of(
    options: argparse.Namespace,
    metrics: Sequence[str | Mapping[str, object]],
    told: MetricOptions | None = NOTHING,
) -> dict[str, Any]:
    """The recipe as JSON has it; options that were not given keep its defaults.

    Args:
        options: Of the command.
        metrics: Where none is asked for.
        told: What files say of the scores that they have; see `of_labels`.
    """
    _require_apart(options.metrics or ())
    choices = words_of(OPTIONS, options)
    choices["metrics"] = of_labels(options.metrics, told) or list(metrics)
    if "baseline" in choices:
        choices["pairs"] = {"baseline": choices.pop("baseline")}
    return choices


def _require_apart(metrics: Sequence[object]) -> None:
    """Check that no option names several metrics; a report's own are no option."""
    for spelled in metrics:
        if not isinstance(spelled, str):
            continue
        names = spelled.partition(":")[0].split(",")
        if len(names) > 1:
            raise RecipeError(
                f"{spelled!r} is no metric; every metric has an option of its own: "
                f"-m {' -m '.join(names)}.",
                field="metrics",
            )


def whole(text: str | None, option: str) -> int | str | None:
    """A whole number; other words are left for the recipe to accept or refuse."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        if option in {"resamples", "family"}:
            return text
        raise RecipeError(f"{option} must be a whole number, not {text!r}.", field=option) from None


def number(text: str | None, option: str) -> float | None:
    """A number.

    Raises:
        RecipeError: Something else.
    """
    try:
        return float(text) if text is not None else None
    except ValueError:
        raise RecipeError(f"{option} must be a number, not {text!r}.", field=option) from None


def read_folders(options: argparse.Namespace) -> Comparison:
    """The comparison on the test sets that lie in folders, or in files or archives.

    Raises:
        SigtestError: A file or an option that cannot be used.
        UsageError: Fewer than two folders.
        OSError: A file that cannot be read.
    """
    # a wrong option is cheaper to find than a wrong file
    check_choices(options)
    if len(options.folders) < 2:
        raise UsageError(
            f"suite needs two folders at least, each a test set; {len(options.folders)} given. One "
            "test set is for sigtest compare --from FOLDER"
        )
    how = joining_of(options)
    read_ones = [_read_testset(spelled, how) for spelled in options.folders]
    choices = choices_of(options, metrics_of(read_ones[0][1]), metric_options(read_ones[0][1]))
    testsets = [{"name": name, **material.as_json()} for name, material in read_ones]
    return parse_comparison({"testsets": testsets, "pooled": options.pooled, **choices})


def _read_testset(spelled: str, how: Joining) -> tuple[str, Material]:
    """The test set of `[NAME=]FOLDER`."""
    name, equals, path = spelled.partition("=")
    if not equals or os.path.exists(spelled):
        last = os.path.basename(os.path.abspath(spelled))
        name, path = last if os.path.isdir(spelled) else system_name(last), spelled
    return name, read([Entry("anything", Path(path))], how).material
