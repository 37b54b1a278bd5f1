"""The example campaign shows what its README says."""

from pathlib import Path

import pytest

from sigtest.people.compute import compute
from sigtest.people.question import check_segments, match_systems, parse

CAMPAIGN = Path(__file__).parents[3] / "examples" / "campaign" / "judgements.tsv"


def evaluated(**choices):
    return compute(parse(choices, [(CAMPAIGN.name, CAMPAIGN.read_bytes())]))


@pytest.fixture(scope="module")
def report():
    return evaluated(quality={"test": "paired_t"}, show_annotators=True)


def conclusion(report, a, b, criterion):
    for pair in report.pairs:
        if pair.criterion == criterion and {pair.a, pair.b} == {a, b}:
            winner = {"a": pair.a, "b": pair.b, "tie": None}
            return winner[pair.conclusion]
    raise LookupError


@pytest.mark.parametrize("test", ["paired_t", "signed_rank", "welch", "mann_whitney"])
def test_every_test_finds_the_two_careless_annotators(test):
    found = evaluated(quality={"test": test}, show_annotators=True).annotators
    careless = {own.name for own in found.each if own.verdict == "careless"}
    assert careless == {"rater-05", "rater-11"}
    assert (found.n, found.kept, found.careless, found.untestable) == (12, 10, 2, 0)


@pytest.mark.parametrize("test", ["rank_sum", "signed_rank", "approximate_randomization"])
@pytest.mark.parametrize("aggregate", ["segment", "document"])
def test_a_copy_is_no_better_and_the_worst_is_worst(test, aggregate):
    found = evaluated(quality={}, test=test, aggregate=aggregate, resamples=999)
    assert conclusion(found, "cedar", "dogwood", "combined") is None
    assert next(own for own in found.systems if own.name == "elm").range == (5, 5)


def test_judgements_speak_of_the_example_task(report, example):
    outputs = [path.stem for path in sorted((example / "systems").iterdir())]
    matched = match_systems([own.name for own in report.systems], outputs)
    assert set(matched.outputs.values()) == set(outputs)
    segments = parse({}, [("c", CAMPAIGN.read_bytes())]).judgements.segment.names
    documents = (example / "documents.txt").read_text().splitlines()
    assert check_segments(segments, len(documents)) == ()
    table = [line.split("\t") for line in CAMPAIGN.read_text().splitlines()[1:]]
    document_of = {row[3]: row[4] for row in table}
    assert all(document_of[s] == documents[int(s) - 1] for s in segments)
