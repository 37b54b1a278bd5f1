"""Metrics of labels: published counts, textbook loops, enumeration, and what is refused."""

import json
import math
import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError, RecipeError
from sigtest.report import Report

GOLD = ["neg", "neg", "pos", "pos", "neu", "pos", "neg", "neu", "pos", "neg"]
NEW = ["neg", "neg", "pos", "pos", "neu", "neg", "neg", "pos", "pos", "neg"]
OLD = ["neg", "pos", "pos", "neg", "neg", "pos", "neg", "neu", "neg", "neu"]

Labels = Sequence[str]


def plain_f1(gold: Labels, said: Labels, label: str) -> float:
    """F1 of one class as textbooks count it."""
    right = missed = wrong = 0
    for truth, claim in zip(gold, said, strict=True):
        right += truth == claim == label
        missed += truth == label != claim
        wrong += claim == label != truth
    if right == 0:
        return 0.0
    precision, recall = right / (right + wrong), right / (right + missed)
    return 2 * precision * recall / (precision + recall)


def plain_macro_f1(gold: Labels, said: Labels) -> float:
    """Mean over the classes that either has."""
    classes = set(gold) | set(said)
    return sum(plain_f1(gold, said, label) for label in classes) / len(classes)


def compared(gold: Labels, systems: dict[str, Labels], *metrics: Any, **choices: Any) -> Report:
    body = {"references": gold, "systems": systems, "metrics": metrics, "resamples": 99, **choices}
    return compare(parse_comparison(body))


def score(report: Report, system: int, metric: str) -> float:
    return report.systems[system].scores[metric].score


def test_scores_of_published_counts(oracles):
    rows = json.loads((oracles / "classification.json").read_text())["umelb_binary"]["rows"]
    for row in rows:
        counts = [("1", "1", row["tp"]), ("0", "1", row["fp"]), ("0", "0", row["tn"]),
                  ("1", "0", row["fn"])]  # fmt: skip
        gold = [truth for truth, _, count in counts for _ in range(count)]
        said = [claim for _, claim, count in counts for _ in range(count)]
        report = compared(
            gold, {"a": said, "b": gold}, "accuracy",
            *(f"{name}:positive=1" for name in ("precision", "recall", "f1")), resamples=9,
        )  # fmt: skip
        for name in ("accuracy", "precision", "recall", "f1"):
            assert score(report, 0, name) == pytest.approx(row[name] / 100, rel=1e-9), row
            assert score(report, 1, name) == 1


@pytest.mark.parametrize("label", ["neg", "pos", "neu"])
def test_scores_are_those_of_textbooks(label):
    report = compared(GOLD, {"new": NEW, "old": OLD}, "macro_f1", f"f1:positive={label}")
    for i, said in enumerate((NEW, OLD)):
        assert score(report, i, "f1") == pytest.approx(plain_f1(GOLD, said, label))
        assert score(report, i, "macro_f1") == pytest.approx(plain_macro_f1(GOLD, said))


@pytest.mark.parametrize("seed", range(20))
def test_macro_f1_of_many_classes(seed):
    rng = random.Random(seed)
    classes = [f"class {i}, {i}+%" for i in range(rng.randint(2, 9))]
    gold = [*classes, *rng.choices(classes, k=40)]
    said = [truth if rng.random() < 0.6 else rng.choice(classes) for truth in gold]
    report = compared(gold, {"a": said, "b": gold[::-1]}, "macro_f1", resamples=9)
    assert score(report, 0, "macro_f1") == pytest.approx(plain_macro_f1(gold, said))


@pytest.mark.parametrize(
    ("metric", "plain"),
    [
        ("macro_f1", plain_macro_f1),
        ("f1:positive=pos", lambda gold, said: plain_f1(gold, said, "pos")),
    ],
)
def test_randomization_counts_every_exchange_of_labels(metric, plain):
    observed = abs(plain(GOLD, NEW) - plain(GOLD, OLD))
    reached = 0
    for swaps in product((False, True), repeat=len(GOLD)):
        a = [old if swap else new for swap, new, old in zip(swaps, NEW, OLD, strict=True)]
        b = [new if swap else old for swap, new, old in zip(swaps, NEW, OLD, strict=True)]
        reached += abs(plain(GOLD, a) - plain(GOLD, b)) >= observed - 1e-9
    pair = compared(GOLD, {"new": NEW, "old": OLD}, metric).pairs[0]
    assert pair.exact
    assert pair.p_value == pytest.approx(reached / 2 ** len(GOLD), rel=1e-12)


def test_intervals_score_the_classes_that_a_resample_has():
    # 35 resamples in 100 lack the only "b" and are perfect; 7 have it three times, one more often
    gold = ["a"] * 9 + ["b"]
    report = compared(gold, {"x": ["a"] * 10, "y": gold}, "macro_f1", resamples=999)
    low, high = report.systems[0].scores["macro_f1"].ci
    assert (low, high) == (pytest.approx(plain_macro_f1(["a"] * 7 + ["b"] * 3, ["a"] * 10)), 1.0)


def test_white_space_around_labels_does_not_count():
    padded = [f" {label}\t" for label in NEW]
    plain, spaced = (
        compared(GOLD, {"a": said, "b": OLD}, "accuracy").pairs for said in (NEW, padded)
    )
    assert plain == spaced


def test_several_test_sets_share_their_classes():
    testsets = {
        "one": {"references": GOLD, "systems": {"new": NEW, "old": OLD}},
        "two": {"references": ["x", "neg"], "systems": {"new": ["x", "x"], "old": ["neg", "neg"]}},
    }
    body = {"testsets": testsets, "metrics": ["macro_f1"], "resamples": 99, "pooled": True}
    report = compare(parse_comparison(body))
    gold, said = [*GOLD, "x", "neg"], [*NEW, "x", "x"]
    assert score(report, 0, "macro_f1") == pytest.approx(plain_macro_f1(gold, said))
    assert report.several is not None
    alone = report.several.testsets[1].report
    assert score(alone, 0, "macro_f1") == pytest.approx(plain_macro_f1(["x", "neg"], ["x", "x"]))


@pytest.mark.parametrize(
    ("metric", "change", "said"),
    [
        ("accuracy", {"systems": {"new": [*NEW[:9], "NEG"], "old": OLD}},
         r"System 'new', segment 10: 'NEG' is none of the classes \(neg, neu, pos\)"),
        ("accuracy", {"systems": {"new": [*NEW[:9], " "], "old": OLD}},
         r"System 'new', segment 10: an empty line, which is no label\."),
        ("accuracy", {"references": ["", *GOLD[1:]]}, r"The references, segment 1: an empty line"),
        ("f1:positive=neg", {"references": [*GOLD[:-1], " "]}, f"segment {len(GOLD)}: an empty"),
        ("f1", {}, r"f1 needs the class that it is about: f1:positive=LABEL, one of neg, neu, pos"),
        ("recall:positive=good", {}, "'good', which is none of the classes"),
        ("macro_f1:classes=neg+pos", {}, r"The references, segment 5: 'neu' is none of"),
        ("accuracy", {"references": [GOLD, GOLD]}, "one label for every segment"),
        ("macro_f1", {"references": [f"{i} words" for i in range(101)],
                      "systems": {name: [f"{i} words" for i in range(101)] for name in "ab"}},
         "more than 100 different labels"),
    ],
)  # fmt: skip
def test_what_is_no_label_is_refused(metric, change, said):
    body = {"references": GOLD, "systems": {"new": NEW, "old": OLD}, "metrics": [metric], **change}
    with pytest.raises((InputError, RecipeError), match=said):
        parse_comparison(body)


@pytest.mark.parametrize("metric", ["accuracy", "f1:positive=neg", "macro_f1"])
@pytest.mark.parametrize("heading", ["label", "gold_label", "y_true", "Class", "sentiment"])
def test_the_name_of_a_column_counts_as_no_label(metric, heading):
    systems = {"new": [heading, *NEW], "old": [heading, *OLD]}
    body = {"references": [heading, *GOLD], "systems": systems, "metrics": [metric]}
    with pytest.raises(InputError, match=f"segment 1: '{heading}' reads like the name of a column"):
        parse_comparison(body)


def test_classes_that_are_called_as_columns_are_labels():
    gold, said = ["target", "other", "target", "other"], ["target", "other", "other", "other"]
    assert score(compared(gold, {"a": said, "b": gold}, "accuracy"), 0, "accuracy") == 0.75
    named = "accuracy:classes=target+other"
    report = compared(gold[:2], {"a": said[:2], "b": said[1:3]}, named)
    assert score(report, 0, "accuracy") == 1.0


def test_labels_of_every_run_are_checked():
    systems = [{"name": n, "replicas": [["yes", "no"], ["no", "sometimes"]]} for n in "ab"]
    asked = {"references": [["yes", "no"]], "systems": systems, "metrics": ["accuracy"]}
    with pytest.raises(InputError, match="'a', segment 2: 'sometimes' is none of the classes"):
        parse_comparison(asked)


def test_classes_that_the_references_lack_can_be_named():
    said = [*NEW[:9], "mixed"]
    report = compared(GOLD, {"a": said, "b": OLD}, "macro_f1:classes=neg+neu+pos+mixed")
    assert score(report, 0, "macro_f1") == pytest.approx(plain_macro_f1(GOLD, said))


def test_perplexity_is_the_exponential_of_loss_per_token():
    losses = {"a": [[12.5, 5], [30.25, 11], [4, 3]], "b": [[13.5, 5], [30, 11], [5, 3]]}
    systems = [{"name": name, "scores": {"lm": rows}} for name, rows in losses.items()]
    body = {"systems": systems, "metrics": ["perplexity:of=lm"]}
    report = compare(parse_comparison(body))
    assert score(report, 0, "lm") == pytest.approx(math.exp(46.75 / 19))
    assert score(report, 1, "lm") == pytest.approx(math.exp(48.5 / 19))
    assert not report.metrics["lm"].higher_is_better
    # exchanging one segment of three, or its complement, turns the difference round or keeps it
    drawn = [
        abs(math.exp((46.75 + sum(d)) / 19) - math.exp((48.5 - sum(d)) / 19))
        for d in product((0, 1), (0, -0.25), (0, 1))
    ]
    observed = math.exp(48.5 / 19) - math.exp(46.75 / 19)
    assert report.pairs[0].p_value == sum(own >= observed - 1e-9 for own in drawn) / 8
    losses["a"][1][0] = 1e6
    with pytest.raises(InputError, match=r"segment 2: a loss of 1e\+06 for 11 tokens"):
        parse_comparison(body)


def test_the_largest_perplexity_has_standard_errors():
    losses = {"a": [[230, 1], [1, 2], [3, 1]], "b": [[2, 1], [460, 2], [5, 2]]}
    systems = [{"name": name, "scores": {"lm": rows}} for name, rows in losses.items()]
    tests = ["approximate_randomization", "bootstrap", "bootstrap_t"]
    body = {"systems": systems, "metrics": ["perplexity:of=lm"], "tests": tests, "resamples": 999}
    for interval in ("percentile", "bootstrap_t"):
        report = compare(parse_comparison({**body, "interval": interval}))
        assert all(math.isfinite(pair.stderr) and pair.stderr > 0 for pair in report.pairs)
        json.dumps(report.as_json(), allow_nan=False)
    losses["b"][1][0] = 460.5
    with pytest.raises(InputError, match="230 a token"):
        parse_comparison(body)
