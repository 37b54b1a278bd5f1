"""Reports in the format and layout that the options ask for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from sigtest.cli.files import check_output
from sigtest.cli.served import understood
from sigtest.data.choices import choose
from sigtest.kinds import Kind
from sigtest.render.formats import FORMATS
from sigtest.render.layout import Layout


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
