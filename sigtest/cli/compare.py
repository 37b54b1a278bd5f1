"""`sigtest compare` and `suite`: in this process or on a running service, the same report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial

from sigtest.cli.files import write
from sigtest.cli.folders import read_folders
from sigtest.cli.plots import check_plots, style_asked, write_plots
from sigtest.cli.progress import bar
from sigtest.cli.request import read_comparison, whole
from sigtest.cli.served import client_of, envelope_of, understood
from sigtest.cli.showing import layout_of, rendered, rendered_anew
from sigtest.comparison.comparison import Comparison
from sigtest.engine import compare as compare_here
from sigtest.engine import distribute
from sigtest.errors import RecipeError
from sigtest.kinds.comparisons import KIND, ComparisonQuestion
from sigtest.parallel import cores
from sigtest.render.comparison import check_table
from sigtest.render.pictures import Picture
from sigtest.requests.notes import Notes

Read = Callable[[argparse.Namespace], Comparison]

WORTH_SHARING = 0.5  # predicted seconds
MOST_JOBS = 256


def compare(options: argparse.Namespace, read: Read = read_comparison) -> None:
    """Compare, and write the report in the format that was asked for.

    Args:
        options: Of the command.
        read: Makes the comparison of them.

    Raises:
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    layout = layout_of(options, partial(check_table, all_pairs=options.baseline is None))
    envelope = envelope_of(options)
    comparison = read(options)
    layout.shown_names([*comparison.plan.recipe.labels, *comparison.plan.systems])
    check_plots(options, comparison)
    if options.server is None:
        content = _compare_here(comparison, options)
    else:
        content = _compare_there(comparison, options, envelope)
    write(content, options.output)


def suite(options: argparse.Namespace) -> None:
    """Compare on several test sets; see `compare`."""
    compare(options, read_folders)


def _compare_here(comparison: Comparison, options: argparse.Namespace) -> bytes:
    with bar() as progress:
        report = compare_here(comparison, progress, _jobs(comparison, options))

    def drawn(picture: Picture, chosen: Mapping[str, str]) -> bytes:
        a, b, metric, test = (chosen[part] for part in ("a", "b", "metric", "test"))
        values = distribute(comparison, a, b, metric, test, chosen.get("testset"))
        styled = {**chosen, **style_asked(options)}
        return picture.draw(report, styled, values).encode()

    if options.plots is not None:
        write_plots(report, options, drawn)
    return rendered(KIND, report, options)


def _jobs(comparison: Comparison, options: argparse.Namespace) -> int:
    """Processes that are worth starting.

    Raises:
        RecipeError: None are asked for.
    """
    asked = whole(options.jobs, "--jobs")
    if isinstance(asked, int):
        if asked < 1:
            raise RecipeError(f"--jobs must be 1 or more, not {asked}.", field="--jobs")
        return min(asked, MOST_JOBS)
    return cores() if ComparisonQuestion(comparison).seconds > WORTH_SHARING else 1


def _compare_there(comparison: Comparison, options: argparse.Namespace, envelope: Notes) -> bytes:
    with client_of(options) as client:
        with bar() as progress:
            key = client.run(comparison, progress, envelope=envelope)
        stored = client.report(key)

        def drawn(picture: Picture, chosen: Mapping[str, str]) -> bytes:
            return client.plot(key, picture.name, **chosen, **style_asked(options))

        if options.plots is not None:
            write_plots(understood(stored, KIND.read), options, drawn)
    return rendered_anew(KIND, stored, options)
