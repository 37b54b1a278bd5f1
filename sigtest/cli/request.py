"""From options and files to a comparison, with the names of the files in every message."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sigtest.cli.files import STDIN, check_lengths, read_lines, read_scores, shown
from sigtest.cli.imported import merge, read_material
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.recipe import Recipe
from sigtest.data.names import check_name, system_name
from sigtest.data.numbers import LABEL
from sigtest.errors import InputError, RecipeError, SigtestError

Column = TypeVar("Column", bound=Sized)


@dataclass
class Given:
    """What the command line says of one system.

    Attributes:
        name: Its name.
        text: File with its hypotheses, if any.
        scores: Files with its scores, by label.
        replicas: Files with the outputs of its training runs, if any.
    """

    name: str
    text: str | None = None
    scores: dict[str, str] = field(default_factory=dict)
    replicas: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        """All its files."""
        texts = [self.text] if self.text is not None else []
        return [*texts, *self.replicas, *self.scores.values()]


class Columns:
    """Reads files that must all be equally long."""

    def __init__(self) -> None:
        self.lengths: list[tuple[str, int]] = []

    def read(self, path: str, reader: Callable[[str], Column]) -> Column:
        """What `reader` finds in a file.

        Raises:
            InputError: The file is not as long as the first one.
        """
        column = reader(path)
        self.lengths.append((path, len(column)))
        check_lengths(self.lengths)
        return column


def read_comparison(options: argparse.Namespace) -> Comparison:
    """The comparison that was asked for.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    material = read_material(options)
    if not options.reference and not options.scores and material is None:
        raise InputError("No references: give them with -r FILE, or scores with --scores.")
    given = systems_of(options.systems, options.replicas, options.scores)
    choices = choices_of(options, _default_metrics(given, bool(options.reference or material)))
    Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
    files = {"documents": options.documents, "labels": options.labels}
    by_segment = {name: path for name, path in files.items() if path is not None}
    paths = [*options.reference, *(path for system in given for path in system.files)]
    paths += by_segment.values()
    if paths.count(STDIN) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    columns = Columns()
    body: dict[str, Any] = {
        "references": [columns.read(path, read_lines) for path in options.reference],
        **choices,
    }
    body["systems"] = [
        {
            "name": system.name,
            "hypotheses": columns.read(system.text, read_lines)
            if system.text is not None
            else None,
            "replicas": [columns.read(path, read_lines) for path in system.replicas] or None,
            "scores": {
                label: columns.read(path, read_scores) for label, path in system.scores.items()
            },
        }
        for system in given
    ]
    body |= {name: columns.read(path, read_lines) for name, path in by_segment.items()}
    return _validated(merge(body, material) if material is not None else body, given)


def _validated(body: dict[str, Any], given: Sequence[Given]) -> Comparison:
    """The comparison; an error about a system names its files."""
    try:
        return parse_comparison(body)
    except SigtestError as error:
        files = next((system.files for system in given if system.name == error.system), [])
        if not files:
            raise
        raise InputError(f"{', '.join(map(shown, files))}: {error.message}") from error


def systems_of(texts: Sequence[str], replicas: Sequence[str], scores: Sequence[str]) -> list[Given]:
    """The systems: plain ones, those with replicas, those with scores alone."""
    systems: dict[str, Given] = {}
    plain = [(name, Given(name, path)) for name, path in map(_named, texts)]
    trained = [(name, Given(name, replicas=files)) for name, files in map(_replicated, replicas)]
    for name, system in plain + trained:
        _check_name(name, system.files[0])
        if name in systems:
            raise InputError(
                f"{shown(systems[name].files[0])} and {shown(system.files[0])} are both named "
                f"{name!r}; every system needs its own name: NAME=FILE."
            )
        systems[name] = system
    for spelled in scores:
        label, name, path = _labelled(spelled)
        _check_name(name, path)
        system = systems.setdefault(name, Given(name))
        if label in system.scores:
            raise InputError(
                f"{shown(system.scores[label])} and {shown(path)} are both the {label!r} scores "
                f"of {name!r}; give one of them another label: LABEL:NAME=FILE."
            )
        system.scores[label] = path
    return list(systems.values())


def _named(spelled: str) -> tuple[str, str]:
    """Name and file of `[NAME=]FILE`; what has a slash is a folder rather than a name."""
    name, equals, path = spelled.partition("=")
    meant = "/" not in name or (os.path.exists(path) and not os.path.exists(spelled))
    if equals and meant:
        return name, _path(path, spelled)
    if spelled == STDIN:
        return "stdin", STDIN
    return system_name(os.path.basename(_path(spelled, spelled))), spelled


def _replicated(spelled: str) -> tuple[str, list[str]]:
    """System and files of `NAME=FILE,FILE,...`."""
    name, equals, listed = spelled.partition("=")
    files = listed.split(",")
    if not equals or not all(files):
        raise InputError(f"--replicas takes NAME=FILE,FILE,..., not {spelled!r}.")
    return name, files


def _labelled(spelled: str) -> tuple[str, str, str]:
    """Label, system and file of `[LABEL:]NAME=FILE`."""
    target, equals, path = spelled.partition("=")
    if not equals:
        raise InputError(f"--scores takes [LABEL:]NAME=FILE, not {spelled!r}.")
    label, colon, name = target.partition(":")
    return (label, name, _path(path, spelled)) if colon else (LABEL, target, _path(path, spelled))


def _path(path: str, spelled: str) -> str:
    if not path:
        raise InputError(f"{spelled!r} names no file.")
    return path


def _check_name(name: str, path: str) -> None:
    try:
        check_name(name)
    except InputError as error:
        raise InputError(f"{shown(path)}: {error.message}") from error


def choices_of(options: argparse.Namespace, metrics: Sequence[str]) -> dict[str, Any]:
    """The recipe as JSON has it; options that were not given keep its defaults.

    Args:
        options: Of the command.
        metrics: Where none is asked for.
    """
    choices: dict[str, Any] = {
        "metrics": options.metric or list(metrics),
        "tests": options.test,
        "alternative": options.alternative,
        "resamples": whole(options.resamples, "resamples"),
        "seed": whole(options.seed, "seed"),
        "alpha": _number(options.alpha),
        "correction": options.correction,
        "family": whole(options.family, "family"),
        "exact": options.exact,
        "unit": options.unit,
        "stratified": options.stratified or None,
    }
    if options.baseline is not None:
        choices["pairs"] = {"baseline": options.baseline}
    return {name: value for name, value in choices.items() if value is not None}


def _default_metrics(given: Sequence[Given], references: bool) -> list[str]:
    """BLEU where there are references, and the mean of every kind of scores."""
    labels = dict.fromkeys(label for system in given for label in system.scores)
    scores = ["scores" if label == LABEL else f"scores:of={label}" for label in labels]
    if len(labels) > 1 and LABEL in labels:
        scores = [f"scores:of={label}" for label in labels]
    return [*(["bleu"] if references or not labels else []), *scores]


def whole(text: str | None, option: str) -> int | str | None:
    """A whole number; other words are left for the recipe to accept or refuse."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        if option in {"resamples", "family"}:
            return text
        raise RecipeError(f"{option} must be a whole number, not {text!r}.", field=option) from None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        raise RecipeError(f"alpha must be a number, not {text!r}.", field="alpha") from None
