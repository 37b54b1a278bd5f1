"""Requests in the form of JSON: what is wrong is named by its place."""

import re
from typing import Any

import pytest
from sentences import sentences

from sigtest.comparison.comparison import parse_comparison
from sigtest.data.names import system_name
from sigtest.data.testset import System, TestSet
from sigtest.data.text import check_lines, parse_lines
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.notebook import compare
from sigtest.requests.recipe import Recipe

BODY: dict[str, Any] = {
    "references": [["a", "b"]],
    "systems": [{"name": "A", "hypotheses": ["a", "b"]}, {"name": "B", "hypotheses": ["a", "c"]}],
}
VALUES: list[Any] = [None, True, 0, -1, 1.5, "x", [], ["x"], [[]], {}, {"x": 1}]


def refused(body: dict[str, Any]) -> str | None:
    """The field that is to blame, if the comparison is refused."""
    try:
        parse_comparison(body)
    except SigtestError as error:
        return error.field or ""
    return None


@pytest.mark.parametrize("field", ["references", "systems", "documents", "segments", "x"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_whatever_a_field_holds_is_taken_or_refused(field, value):
    blamed = refused(BODY | {field: value})
    assert blamed is None or blamed.startswith(("references", "systems", "documents", field))


def test_a_baseline_has_its_place_among_the_pairs():
    with pytest.raises(RecipeError, match=r'asked for by pairs: \{"baseline": NAME\}'):
        parse_comparison(BODY | {"baseline": "A"})
    assert parse_comparison(BODY | {"pairs": {"baseline": "A"}}).recipe.baselines == ("A",)


@pytest.mark.parametrize("field", ["name", "hypotheses", "scores"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_whatever_a_system_holds_is_taken_or_refused(field, value):
    systems = [BODY["systems"][0], BODY["systems"][1] | {field: value}]
    blamed = refused(BODY | {"systems": systems})
    assert blamed is None or blamed.startswith("systems")


def test_a_line_that_cannot_be_is_named():
    for line, flaw in ((1, "a number"), ("a\nb", "line break"), ("\0", "NUL"), ("\udc80", "half")):
        with pytest.raises(SigtestError, match=re.escape("System 'A', segment 2")) as caught:
            System.of("A", ["a", line])  # type: ignore[list-item]
        assert flaw in caught.value.message
        assert (caught.value.system, caught.value.line) == ("A", 2)


def test_other_separators_stay_inside_a_line():
    lines = ["a\u2028b", "c\x0cd", "e\u0085f", "g\rh"]
    assert check_lines(lines, "x", field="x") == tuple(lines)


def test_one_carriage_return_before_a_line_feed_ends_a_line():
    lines = parse_lines(b"a\r\nb\r\r\n\r\n\rc\rd\r\ne\r", "x")
    assert lines == ("a", "b\r", "", "\rc\rd", "e")
    assert parse_lines(b"a\n\n", "x") == ("a", "")


def test_missing_references_are_no_missing_hypotheses():
    assert TestSet.of([["a", None], [None, "b"]]).segments == 2
    with pytest.raises(SigtestError, match="null"):
        System.of("A", ["a", None])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("A.txt", "A"),
        ("A.txt.gz", "A"),
        ("newstest.es-en.uedin.en", "newstest.es-en.uedin"),
        ("A", "A"),
        ("A.gz", "A"),
        (".txt", ".txt"),
        ("../A", "../A"),
    ],
)
def test_a_file_names_its_system(file, name):
    assert system_name(file) == name


@pytest.mark.parametrize("value", [1e300, 1e-300])
def test_numbers_that_cannot_be_summed_exactly_are_refused(value):
    with pytest.raises(InputError, match="segment 2: the 'x' score is too large or too small"):
        parse_comparison({"systems": [{"name": "A", "scores": {"x": [1.0, value]}}]})


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("bleu:smooth_method=add-k,smooth_value=inf", "smooth_value must be from 0 to"),
        ({"name": "bleu", "smooth_value": 10**400}, "must be a number"),
        ("bleu:tokenize=zh,tokenize=13a", "twice"),
    ],
)
def test_impossible_metric_options_are_refused(metric, said):
    with pytest.raises(RecipeError, match=said):
        Recipe.of({"metrics": [metric]})


def scored(*labels: str, text: bool = True) -> dict[str, Any]:
    """What a system brings."""
    lines: dict[str, Any] = {"hypotheses": ["a", "b"]} if text else {}
    return lines | {"scores": {label: [0, 1] for label in labels}}


INFERRED: list[tuple[list[dict[str, Any]], list[Any]]] = [
    ([scored(), scored()], ["bleu"]),
    ([scored("x"), scored("x")], ["bleu", {"name": "scores", "of": "x"}]),
    ([scored("x", "y"), scored("y")], ["bleu", {"name": "scores", "of": "y"}]),
    ([scored("x"), scored("x", text=False)], [{"name": "scores", "of": "x"}]),
    ([scored("scores", text=False), scored("scores", text=False)], ["scores"]),
]


@pytest.mark.parametrize(("brought", "metrics"), INFERRED)
@pytest.mark.parametrize("said", [{}, {"metrics": None}], ids=["left-out", "null"])
def test_metrics_follow_from_what_systems_bring_where_none_are_named(brought, metrics, said):
    body = {"references": ["a", "b"], "systems": dict(zip("AB", brought, strict=True))}
    assert parse_comparison(body | said).recipe.metrics == Recipe.of({"metrics": metrics}).metrics
    suite = {"testsets": {"one": body, "two": body}}
    assert parse_comparison(suite | said).recipe.metrics == Recipe.of({"metrics": metrics}).metrics


def test_a_test_goes_with_metrics_that_nobody_names():
    """McNemar's takes scores of 0 and 1, and no BLEU."""
    body = {"systems": {"A": scored("x", text=False), "B": scored("x", text=False)}}
    assert parse_comparison(body | {"tests": ["mcnemar"]}).recipe.labels == ("x",)


HEADING = "'colour', is the only one that occurs once"


def warnings(gold: list[str], first: str | None = None) -> str:
    outputs = {"a": gold[1:], "b": ["no"] * (len(gold) - 1)}
    systems = {name: [first or gold[0], *lines] for name, lines in outputs.items()}
    found = compare(references=gold, systems=systems, metrics=["accuracy"], tests=["mcnemar"])
    return " ".join(sentences(found))


def test_a_label_that_may_be_a_heading_is_asked_about():
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
def test_rare_labels_are_not(gold):
    assert HEADING not in warnings(gold, "yes")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("same", "same", "'same'"),
        ("caf\u00e9", "caf\u00e9", "'caf\u00e9'"),
        (
            "caf\u00e9",
            "cafe\u0301",
            "'cafe\u0301' (with U+0301) and 'caf\u00e9' (with U+00E9), which are equal",
        ),
        ("\u212b", "\u00c5", "'\u00c5' (with U+00C5) and '\u212b' (with U+212B), which are equal"),
    ],
)
def test_names_that_unicode_calls_equal_are_one_name(a, b, said):
    systems = [{"name": name, "hypotheses": ["a b"]} for name in (a, b)]
    told = re.escape(f"Two systems are named {said}; every system needs its own name.")
    with pytest.raises(InputError, match=f"^{told}$") as caught:
        parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
    assert caught.value.system is not None


def test_other_names_may_look_alike():
    systems = [{"name": name, "hypotheses": ["a b"]} for name in ("a", "\u0430", "A")]
    parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
