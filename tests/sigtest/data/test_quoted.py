"""What was given is repeated in messages as requests and files write it."""

import datetime

import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.data.names import check_name
from sigtest.errors import SigtestError, quoted
from sigtest.requests.recipe import parse_metric

LINES = ["a b c d"] * 4


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("wrong", "'wrong'"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (["a", None], '["a", null]'),
        (("a", 1), '["a", 1]'),
        ({"a": False}, '{"a": false}'),
        ("x" * 60, repr("x" * 60)),
        ("x" * 61, repr("x" * 60 + "...")),
        ([1000] * 20, "[" + "1000, " * 9 + "1000,..."),
        (datetime.date(2014, 6, 26), "datetime.date(2014, 6, 26)"),  # only notebooks can
    ],
)
def test_a_value_is_repeated_as_json_writes_it(given, shown):
    assert quoted(given) == shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"alpha": None}, "alpha must be a number, not null."),
        ({"alpha": ["x"]}, 'alpha must be a number, not ["x"].'),
        ({"seed": False}, "seed must be a whole number from 0 to 18446744073709551615, not false."),
        ({"unit": None}, "of resampling null; choose one of auto, segment, document, cluster."),
        ({"correction": True}, "max_t, tukey."),  # which is no word that may mean another
        ({"metrics": [{"name": "bleu", "lowercase": None}]}, "must be true or false, not null."),
    ],
)
def test_requests_are_refused_in_the_words_of_json(change, said):
    systems = [{"name": name, "hypotheses": LINES} for name in "AB"]
    with pytest.raises(SigtestError) as refused:
        parse_comparison({"references": [LINES], "systems": systems} | change)
    assert refused.value.message.endswith(said)


def test_a_long_name_is_cut_within_its_quotation_marks():
    with pytest.raises(SigtestError, match=r"characters; 'x{60}\.\.\.' has 201\.$"):
        check_name("x" * 201)


@pytest.mark.parametrize("value", ["many", 1.5, True, None, [1]])
def test_options_of_metrics_that_are_no_whole_numbers_are_refused(value):
    with pytest.raises(SigtestError) as refused:
        parse_metric({"name": "chrf", "char_order": value})
    assert refused.value.message == (
        f"chrf:char_order must be a whole number, not {quoted(value)}."
    )
