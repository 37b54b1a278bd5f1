"""A heading among labels would count as one more segment that every system has right."""

import pytest

from sigtest.notebook import compare

HEADING = "'colour', is the only one that occurs once"


def warnings(gold: list[str], first: str | None = None) -> str:
    outputs = {"a": gold[1:], "b": ["no"] * (len(gold) - 1)}
    systems = {name: [first or gold[0], *lines] for name, lines in outputs.items()}
    found = compare(references=gold, systems=systems, metrics=["accuracy"], tests=["mcnemar"])
    return " ".join(found.warnings)


def test_a_label_that_may_be_a_heading_is_asked_about() -> None:
    assert HEADING in warnings(["colour", *["yes", "no"] * 15])


@pytest.mark.parametrize(
    "gold",
    [
        ["colour", *["yes", "no", "colour"] * 10],  # a class
        ["yes", "colour", *["yes", "no"] * 15],  # not the first
        ["colour", "other", *["yes", "no"] * 15],  # classes may be rare
        ["colour", *["yes", "no"] * 5],  # in a handful
    ],
)
def test_rare_labels_are_not(gold: list[str]) -> None:
    assert HEADING not in warnings(gold, "yes")
