"""Pictures from the command line: of a stored report, a comparison just made, a leaderboard."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from sigtest.cli.files import check_output, read_bytes, shown, write, write_pictures
from sigtest.cli.parser import UsageError
from sigtest.comparison.comparison import Comparison
from sigtest.data.choices import choose
from sigtest.data.text import decode
from sigtest.errors import InputError, RecipeError
from sigtest.kinds import Kind
from sigtest.render.converters import converted
from sigtest.render.drawing import STYLE, Style
from sigtest.render.pictures import PICTURES, Picture
from sigtest.report import Report

CHOSEN = ("metric", "test", "testset", "criterion", "alpha")  # what of a report is drawn


# Draws a picture of a pair; what is chosen names it: a, b, metric, test and perhaps testset.
DrawPair = Callable[[Picture, Mapping[str, str]], str]


def plot(options: argparse.Namespace) -> None:
    """`sigtest plot`: one picture of a stored report.

    Raises:
        UsageError: No kind of picture.
        SigtestError: An unknown kind of picture, metric or test, or no JSON report.
        OSError: A file that cannot be read or written.
    """
    from sigtest.kinds import KINDS  # late: other commands need none but comparisons

    if not options.kind:
        raise UsageError("plot which KIND of picture, of which REPORT? (see sigtest plot --help)")
    kinds: dict[str, list[Kind[Any]]] = {}
    for known in KINDS.values():
        for name in known.pictures:
            kinds.setdefault(name, []).append(known)
    candidates = kinds[choose(options.kind, kinds, "kind", "picture")]
    if candidates[0].pictures[options.kind].needs == "distribution":
        raise RecipeError(
            "A report keeps no distribution; draw it with sigtest compare ... --plots DIR "
            "--distribution A B."
        )
    check_output(options.output)
    kind, report = _read(options.report, candidates)
    folded = {str(own).casefold(): str(own) for own in getattr(report, "metrics", ())}
    options.metric = folded.get(str(options.metric).casefold(), options.metric)
    given = {part: getattr(options, part) for part in CHOSEN}
    chosen = {part: value for part, value in given.items() if value is not None}
    chosen |= style_of(options)
    kind.check_chosen(options.kind, chosen)
    svg = kind.pictures[options.kind].draw(report, chosen)
    write(converted(svg, options.suffix), options.output)


def style_of(options: argparse.Namespace) -> dict[str, str]:
    """How pictures are to be drawn, as a service is asked for it."""
    given = {part: getattr(options, part) for part in STYLE}
    return {part: value for part, value in given.items() if value is not None}


def check_plots(options: argparse.Namespace, comparison: Comparison) -> None:
    """Complain before a long computation about pictures that could not be drawn after it.

    Raises:
        RecipeError: A distribution of unknown systems, one and nowhere to put it, or a style that
            pictures cannot have.
        OSError: The folder cannot be made.
    """
    require_folder(options)
    Style.of(style_of(options))
    if options.plots is not None:
        names = comparison.plan.systems
        compared = {frozenset(names[i] for i in pair) for pair in comparison.plan.pairs}
        _prepare(options, names, compared)


def require_folder(options: argparse.Namespace) -> None:
    """Complain about what is said of pictures where none are written.

    Raises:
        RecipeError: There is something, and no --plots.
    """
    for option in ("distribution", *STYLE):
        if getattr(options, option) and options.plots is None:
            raise RecipeError(f"--{option} is about pictures; it needs --plots DIR, where they go.")


def write_board_plots(report: Report, options: argparse.Namespace, draw_pair: DrawPair) -> None:
    """The same as `write_plots` for a leaderboard, which was not there to be checked before.

    Raises:
        InputError: It has no pairs.
        RecipeError: A distribution of systems that it has not.
        OSError: The folder cannot be made.
    """
    names = [system.name for system in report.systems]
    if not report.pairs:
        measured = "1 system is" if len(names) == 1 else f"{len(names)} systems are"
        raise InputError(f"{measured} measured; pictures need two.")
    _prepare(options, names, {frozenset((pair.a, pair.b)) for pair in report.pairs})
    write_plots(report, options, draw_pair)


def write_plots(report: Report, options: argparse.Namespace, draw_pair: DrawPair) -> None:
    """Write every picture of a report into the folder that was asked for.

    Args:
        report: Of the comparison.
        options: Name the folder, and the pairs whose distributions are wanted.
        draw_pair: Makes a picture that needs the distribution of a pair.
    """
    write_pictures(_pictures(report, options, draw_pair), options.plots, options.plots_as)


def _prepare(
    options: argparse.Namespace, names: Sequence[str], compared: Container[frozenset[str]]
) -> None:
    """Check the pairs whose distributions are wanted, and make the folder."""
    for a, b in options.distribution:
        choose(a, names, "distribution", "system")
        choose(b, names, "distribution", "system")
        if frozenset((a, b)) not in compared:
            raise RecipeError(f"{a!r} and {b!r} are not compared.", field="distribution")
    Path(options.plots).mkdir(exist_ok=True)


def _pictures(
    report: Report, options: argparse.Namespace, draw_pair: DrawPair
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What each picture is called, and the picture: of every test set, and of all together."""
    names = [entry.name for entry in report.several.testsets] if report.several else []
    style = style_of(options)
    fitting = [p for p in PICTURES.values() if p.needs == "report" and p.fits(report)]
    of_pairs = [p for p in PICTURES.values() if p.needs == "distribution"]
    for testset in (*names, None):
        of = {} if testset is None else {"testset": testset}
        for picture in fitting:
            if picture.whole:
                yield (picture.name, *of.values()), picture.draw(report, {**of, **style})
        for metric, test in product(report.metrics, report.tests):
            by = {"metric": metric, "test": test, **of}
            for picture in fitting:
                if not picture.whole:
                    named = (picture.name, *of.values(), metric, test)
                    yield named, picture.draw(report, {**by, **style})
            for picture, (a, b) in product(of_pairs, options.distribution):
                if testset or not names:
                    named = (picture.name, *of.values(), a, b, metric, test)
                    yield named, draw_pair(picture, {"a": a, "b": b, **by})


def _read(path: str, kinds: Sequence[Kind[Any]]) -> tuple[Kind[Any], Any]:
    """The report in a file, and the kind that it is of, which the first says what is wrong with."""
    text = decode(read_bytes(path), shown(path))
    first, *others = kinds
    try:
        body = json.loads(text)
        for kind in others:
            with suppress(InputError):
                return kind, kind.read(body)
        return first, first.read(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{shown(path)} is no JSON report of this version: sigtest {first.command} ... "
            "--format json."
        ) from error
