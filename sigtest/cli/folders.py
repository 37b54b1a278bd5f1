"""`sigtest suite`: folders, each a test set, to the request that compares on all of them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sigtest.cli.given import joining_of, read
from sigtest.cli.parser import UsageError
from sigtest.cli.request import check_choices, choices_of
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.names import system_name
from sigtest.files import Given, Joining, Material, metrics_of, told_of


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
    choices = choices_of(options, metrics_of(read_ones[0][1]), told_of(read_ones[0][1]))
    testsets = [{"name": name, **material.as_json()} for name, material in read_ones]
    return parse_comparison({"testsets": testsets, "pooled": options.pooled, **choices})


def _read_testset(spelled: str, how: Joining) -> tuple[str, Material]:
    """The test set of `[NAME=]FOLDER`."""
    name, equals, path = spelled.partition("=")
    if not equals or os.path.exists(spelled):
        last = os.path.basename(os.path.abspath(spelled))
        name, path = last if os.path.isdir(spelled) else system_name(last), spelled
    return name, read([Given("anything", Path(path))], how).material
