"""Pictures of leaderboards from the shell."""

from argparse import Namespace

import pytest

from sigtest.cli.compare import write_board_plots
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError


def test_pictures_of_a_board_of_one_system_are_refused_in_the_singular() -> None:
    system = {"name": "alone", "scores": {"x": [1, 2, 3]}}
    report = compare(parse_comparison({"systems": [system], "metrics": ["scores"], "resamples": 9}))
    with pytest.raises(InputError, match=r"^1 system is measured; pictures need two"):
        write_board_plots(report, Namespace(), lambda *_: b"")
