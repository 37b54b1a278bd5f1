"""The parser of every command, and the options that several of them take."""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from typing import Any, NoReturn

from sigtest.render.converters import PICTURE_FORMATS
from sigtest.render.drawing import PARTS
from sigtest.render.formats import FORMATS
from sigtest.requests.options import Option


class UsageError(Exception):
    """Arguments that cannot be understood; the message is for the user."""


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations and leaves messages and exits to its caller.

    Args:
        prog: `sigtest` and the command.
        takes: What must follow, and in brackets what may; a line for each way of asking.
        description: What the command does.
        epilog: What else to know.
    """

    # To argparse, everything is optional: the command's own messages say better what is missing.
    def __init__(self, prog: str, takes: Sequence[str], description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            usage="\n       ".join(f"{prog} {way}".rstrip() for way in takes),
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            add_help=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].lower()}{message[1:]} (see {self.prog} --help)")


class Once(argparse.Action):
    """Keeps the value of an option, and refuses another."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        if getattr(namespace, self.dest) not in (self.default, values):
            earlier = getattr(namespace, self.dest)
            parser.error(f"{self.option_strings[-1]} is given twice: {earlier} and {values}")
        setattr(namespace, self.dest, values)


def add_option(
    group: argparse._ActionsContainer, flags: str, metavar: str, words: str, **others: Any
) -> None:
    """An option that takes a value; `flags` are its spellings."""
    group.add_argument(*flags.split(), metavar=metavar, help=words, **{"action": Once} | others)


def add_repeatable(
    group: argparse._ActionsContainer, flags: str, metavar: str, words: str, **others: Any
) -> None:
    """An option that takes a value each time it is given."""
    add_option(group, flags, metavar, words, action="append", default=[], **others)


def add_flag(group: argparse._ActionsContainer, flags: str, words: str) -> None:
    """An option without a value."""
    group.add_argument(*flags.split(), action="store_true", help=words)


def add_files(group: argparse._ActionsContainer) -> None:
    """The options that say what to compare."""
    group.add_argument(
        "systems", nargs="*", metavar="[NAME=]SYSTEM", help="hypotheses, two systems at least"
    )
    add_repeatable(group, "-r --reference", "FILE", "references; repeat for more reference sets")
    add_repeatable(
        group, "--from", "PATH",
        "a file, directory or archive of any format in docs/FORMATS.md, which its content "
        "says; repeatable, joined by the ids of segments", dest="imports",
    )  # fmt: skip
    add_option(
        group, "--testset", "NAME",
        "references of sacreBLEU's test set, such as wmt17/en-de (downloads need "
        "SIGTEST_ALLOW_DOWNLOADS=1); with --from, one of the test sets that it has",
    )  # fmt: skip
    add_repeatable(
        group, "--scores", "[LABEL:]NAME=FILE",
        "scores of system NAME computed elsewhere: numbers, one line a segment, or a file "
        "of any format; NAME and LABEL win over names inside; repeatable",
    )  # fmt: skip
    add_repeatable(
        group, "--replicas", "NAME=FILE,FILE,...",
        "outputs or scores of several runs of system NAME instead of one; repeatable",
    )  # fmt: skip
    add_columns(group)
    add_option(group, "--source", "FILE", "source of each segment, for health checks of outputs")
    add_missing(group)


def add_missing(group: argparse._ActionsContainer) -> None:
    """The option that says what becomes of segments that only some have."""
    add_option(
        group, "--missing", "WAY",
        "what to do about segments that not all files have: error (default), or drop them "
        "for every system and say so", default="error",
    )  # fmt: skip
    add_repeatable(group, "--without", "NAME", "leave a system out; repeatable")


def add_columns(group: argparse._ActionsContainer) -> None:
    """The options that say which segments belong together."""
    add_option(
        group, "--documents --clusters", "FILE",
        "document of each segment, or the cluster of each item",
    )  # fmt: skip
    add_option(group, "--labels", "FILE", "label of each segment, such as its domain")


def add_field(group: argparse._ActionsContainer, field: Option, words: str | None = None) -> None:
    """The option of one field of a request.

    Args:
        group: Gets it.
        field: Of the request.
        words: What help says of it, where not what the field says.
    """
    flags = ("-m", field.flag) if field.word == "metric" else (field.flag,)
    if field.kind is bool:
        group.add_argument(*flags, dest=field.name, action="store_true", help=words or field.help)
        return
    numbers = field.several and field.kind is float
    group.add_argument(
        *flags, dest=field.name, metavar=field.metavar, help=words or field.help,
        action="extend" if numbers else "append" if field.repeatable else Once,
        nargs="+" if numbers else None,
    )  # fmt: skip


def add_recipe(
    group: argparse._ActionsContainer,
    without: Container[str] = (),
    hidden: Container[str] = (),
    **words: str,
) -> None:
    """The options that say how to compare.

    Args:
        group: Of the command's options.
        without: Options that the command has no use for.
        hidden: Options that the command refuses with a reason; its help leaves them out.
        **words: What help says of options, by their words, where not what the recipe says.
    """
    from sigtest.requests.recipe import OPTIONS  # late: metrics and tests need NumPy

    for field in OPTIONS:
        if field.flag not in without:
            about = words.get(field.word)
            add_field(group, field, argparse.SUPPRESS if field.flag in hidden else about)


COMPARED = (
    "systems (in latex one column wide, with a decimal less; in csv a row for each system), pairs, "
    "matrix (p-values of all pairs) or row (systems without anything around them)"
)


def add_layout(group: argparse._ActionsContainer, tables: str = COMPARED) -> None:
    """The options that say how a report is laid out.

    Args:
        group: Gets the options.
        tables: Which tables there are.
    """
    add_option(group, "--table", "NAME", f"only one table, for papers: {tables}")
    add_option(group, "--caption", "TEXT", "of --table, not its own", default="")
    add_option(group, "--label", "NAME", "of --table, for latex to refer to", default="")
    add_repeatable(
        group, "--names", "NAME=SHOWN",
        "what tables call a metric or system, such as 'bleu=BLEU $\\uparrow$'; repeatable",
    )  # fmt: skip


def add_style(group: argparse._ActionsContainer) -> None:
    """The options that say how pictures are drawn."""
    add_option(group, "--width", "LENGTH", "of pictures, such as 16cm; default 8.5cm")
    add_option(group, "--title", "TEXT", "of pictures, not their own")
    add_option(group, "--omit", "PARTS", f"of pictures, between commas: {', '.join(PARTS)}")


def add_distribution(group: argparse._ActionsContainer) -> None:
    """The option that asks for pictures of pairs."""
    group.add_argument(
        "--distribution", nargs=2, action="append", default=[], metavar=("A", "B"),
        help="with --plots: also of the distribution behind this pair's p-values; repeatable",
    )  # fmt: skip
    add_style(group)


def add_output(group: argparse._ActionsContainer) -> None:
    """The options that say what to show, and where."""
    add_option(group, "--format", "NAME", f"{', '.join(FORMATS)}; default by --output, or text")
    add_option(group, "--output", "FILE", "write to FILE, whole or not at all")
    add_option(group, "--plots", "DIR", "write pictures of the report to DIR")
    add_option(
        group, "--plots-as", "NAME", f"of those pictures: {', '.join(PICTURE_FORMATS)}; default svg"
    )


def add_server(group: argparse._ActionsContainer) -> None:
    """The options that every command has."""
    add_option(
        group, "--server", "URL",
        "a running service; SIGTEST_API_KEY holds its key, if it needs one",
    )  # fmt: skip
    add_help(group)


def add_envelope(group: argparse._ActionsContainer) -> None:
    """The options that say what is written on a question or a test set of a service."""
    add_option(group, "--call", "TITLE", "with --server: title in listings")
    add_repeatable(group, "--tag", "TAG", "with --server: a word to find it by; repeatable")
    add_repeatable(
        group, "--metadata", "NAME=VALUE", "with --server: kept for your own programs; repeatable"
    )


def add_help(group: argparse._ActionsContainer) -> None:
    """The option that only describes the command."""
    add_flag(group, "-h --help", "show this and do nothing else")
