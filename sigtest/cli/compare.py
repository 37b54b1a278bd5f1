"""`sigtest compare` and `suite`: in this process or on a running service, the same report."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sigtest.cli.files import check_output, write
from sigtest.cli.parser import UsageError
from sigtest.cli.plots import check_plots, style_of, write_plots
from sigtest.cli.request import read_comparison, read_folders, whole
from sigtest.cli.terminal import bar
from sigtest.comparison.comparison import Comparison
from sigtest.data.choices import choose
from sigtest.engine import compare as compare_here
from sigtest.engine import distribute
from sigtest.errors import InputError, RecipeError, ServiceError
from sigtest.kinds import Kind
from sigtest.kinds.comparisons import KIND, ComparisonQuestion
from sigtest.parallel import cores
from sigtest.render.comparison import check_table
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.pictures import Picture
from sigtest.requests.notes import Notes
from sigtest.version import __version__

if TYPE_CHECKING:
    from sigtest.client import Client


T = TypeVar("T")


def client_of(options: argparse.Namespace) -> Client:
    """A client of the service that `--server` names."""
    from sigtest.client import Client  # late: only --server needs httpx, which takes 0.1 s

    return Client(options.server, os.environ.get("SIGTEST_API_KEY") or None)


def envelope_of(options: argparse.Namespace) -> Notes:
    """What the options write on a question or a test set of a service.

    Raises:
        UsageError: There is no service to keep it, or metadata is no NAME=VALUE.
        InputError: It cannot be kept.
    """
    metadata = {}
    for spelled in options.metadata:
        name, equals, value = spelled.partition("=")
        if not equals or not name:
            raise UsageError(f"--metadata takes NAME=VALUE, not {spelled!r}")
        metadata[name] = value
    envelope = Notes.of({"title": options.call or "", "tags": options.tag, "metadata": metadata})
    if options.server is None and envelope.as_json():
        raise UsageError("--call, --tag and --metadata are for a service: --server URL")
    return envelope


def understood(stored: bytes, reader: Callable[[Mapping[str, Any]], T]) -> T:
    """The service's report, which only its own version of sigtest is sure to understand.

    Raises:
        ServiceError: Another version of sigtest wrote it.
    """
    body = json.loads(stored)
    try:
        return reader(body)
    except InputError as error:
        raise ServiceError(
            f"The service runs sigtest {body.get('version')} and this is {__version__}, which "
            "cannot show its report; take --format json."
        ) from error


def layout_of(options: argparse.Namespace, check_table: Callable[[str], object]) -> Layout:
    """How the report is to be laid out, checked before a long computation.

    Args:
        options: Of the command.
        check_table: Complains about a table that the report will not have.

    Raises:
        SigtestError: An unknown format or table, a layout that the format cannot have, no file.
        OSError: A file that could not be written.
    """
    choose(options.format, FORMATS, "format", "format")
    layout = _layout(options)
    FORMATS[options.format].check(layout)
    if layout.table is not None:
        check_table(layout.table)
    check_output(options.output)
    return layout


def rendered(kind: Kind[Any], report: Any, options: argparse.Namespace) -> bytes:
    """A report."""
    return FORMATS[options.format].render(kind.lay_out(report, _layout(options))).encode()


def rendered_anew(kind: Kind[Any], stored: bytes, options: argparse.Namespace) -> bytes:
    """A report of a service, which wrote it as JSON."""
    if options.format == "json":
        return stored
    return rendered(kind, understood(stored, kind.read), options)


def _layout(options: argparse.Namespace) -> Layout:
    every_pair = getattr(options, "every_pair", False)  # of comparisons alone
    names = tuple(options.names)
    return Layout(options.table, options.caption, options.label, names, every_pair)


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
    layout.new_names([*comparison.plan.recipe.labels, *comparison.plan.systems])
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

    def drawn(picture: Picture, chosen: Mapping[str, str]) -> str:
        a, b, metric, test = (chosen[part] for part in ("a", "b", "metric", "test"))
        values = distribute(comparison, a, b, metric, test, chosen.get("testset"))
        styled = {**chosen, **style_of(options)}
        return picture.draw(report, styled, values)

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

        def drawn(picture: Picture, chosen: Mapping[str, str]) -> str:
            return client.plot(key, picture.name, **chosen, **style_of(options)).decode()

        if options.plots is not None:
            write_plots(understood(stored, KIND.read), options, drawn)
    return rendered_anew(KIND, stored, options)
