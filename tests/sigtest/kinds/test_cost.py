"""No question takes more than twice what is predicted for it, whoever wrote its texts."""

import random
import time
from typing import Any

import pytest

from sigtest import engine
from sigtest.comparison.parse import parse_comparison
from sigtest.errors import UnavailableError
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.metrics.meteor import find
from sigtest.warm import warm

FIXED_SECONDS = 0.05  # parsing, the report: not predicted, and the same for all
VOCABULARIES = (
    ["a"],
    ["a", "b"],
    list("abcdefghij"),
    [f"w{i}" for i in range(300)],
    [chr(0x4E00 + i) for i in range(200)],
    ["!", "a.", "b,c", "'s"],
)
METRICS = ("bleu", "chrf", "chrf++", "ter", "nist", "bleu:tokenize=char", "ter:normalized=true")
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap")
MOST_WORDS = 60_000


def hostile(seed: int) -> dict[str, Any]:
    """A request such as nobody writes by hand: few words, very long lines, many near copies."""
    rng = random.Random(seed)
    systems = rng.choice([2, 3, 5, 20, 60])
    segments = rng.choice([1, 2, 15, 19, 25, 100, 500])
    words = rng.choice([1, 3, 25, 60, 200, 1000])
    while systems * segments * words > MOST_WORDS:
        words, segments = max(1, words // 3), max(1, segments // 2)
    vocabulary = rng.choice(VOCABULARIES)
    between = rng.choice([" ", " ", " ", ""])

    def line() -> str:
        return between.join(rng.choices(vocabulary, k=rng.randint(1, words)))

    base = [line() for _ in range(segments)]

    def output() -> list[str]:
        if rng.random() < 0.5:
            return [line() for _ in base]
        near = list(base)
        for _ in range(min(segments, rng.randint(0, 20))):
            near[rng.randrange(segments)] = line()
        return near

    return {
        "references": [[line() for _ in base]],
        "systems": [{"name": f"s{i}", "hypotheses": output()} for i in range(systems)],
        "metrics": rng.sample(METRICS, rng.choice([1, 2, 3])),
        "tests": rng.sample(TESTS, rng.choice([1, 2, 3])),
        "resamples": rng.choice([9, 99, 999, 9999] if systems < 60 else [9, 99, 999]),
    }


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    warm()
    engine.compare(parse_comparison(hostile(0) | {"metrics": list(METRICS), "resamples": 9}))


def taken(request: dict[str, Any]) -> tuple[float, float]:
    """Seconds of this process, and those that were predicted."""
    comparison = parse_comparison(request)
    predicted = ComparisonQuestion(comparison).seconds
    start = time.process_time()
    engine.compare(comparison)
    return time.process_time() - start, predicted


@pytest.mark.parametrize("seed", range(40))
def test_no_question_takes_more_than_twice_what_was_predicted(seed: int) -> None:
    took, predicted = taken(hostile(seed))
    assert took <= 2 * predicted + FIXED_SECONDS, f"{took:.2f} s, predicted {predicted:.2f} s"


def test_many_one_word_systems_are_not_cheap() -> None:
    """Seven kilobytes that took 2,900 seconds."""
    body = {
        "references": [["a"]],
        "systems": [{"name": f"s{i}", "hypotheses": ["ab"[i % 2]]} for i in range(200)],
        "resamples": 999_999,
    }
    whole = ComparisonQuestion(parse_comparison(body)).seconds
    assert whole > 1000
    few = {**body, "systems": body["systems"][:40], "resamples": 2000}
    took, predicted = taken(few)
    assert took <= 2 * predicted + FIXED_SECONDS


@pytest.mark.parametrize(("decimals", "segments"), [(0, 100), (4, 400), (6, 200)])
def test_scores_on_a_fine_grid_are_not_cheap(decimals: int, segments: int) -> None:
    rng = random.Random(decimals)
    scores = [[round(rng.random(), decimals) for _ in range(segments)] for _ in range(6)]
    took, predicted = taken({
        "segments": segments,
        "systems": [{"name": f"s{i}", "scores": {"x": own}} for i, own in enumerate(scores)],
        "metrics": ["scores"],
        "resamples": 999,
    })  # fmt: skip
    assert took <= 2 * predicted + FIXED_SECONDS, f"{took:.2f} s, predicted {predicted:.2f} s"


def test_ordinary_texts_are_predicted_within_reason() -> None:
    """A budget must not be used up by what costs nothing."""
    rng = random.Random(1)
    lines = [" ".join(rng.choices([f"w{i}" for i in range(3000)], k=25)) for _ in range(1000)]
    others = [" ".join(w if rng.random() < 0.7 else "x" for w in s.split()) for s in lines]
    took, predicted = taken({
        "references": [lines],
        "systems": [{"name": n, "hypotheses": others} for n in "ab"],
        "metrics": ["bleu", "chrf", "ter"],
        "resamples": 9999,
    })  # fmt: skip
    assert predicted < 20 * took


def test_meteor_is_predicted_from_words_that_are_alike() -> None:
    try:
        find()
    except UnavailableError:
        pytest.skip("METEOR is not installed")
    body = {"references": [["a " * 200]], "metrics": ["meteor"], "resamples": 9}
    alike = [{"name": n, "hypotheses": ["a " * 200]} for n in "ab"]
    apart = [{"name": n, "hypotheses": [" ".join(map(str, range(200)))]} for n in "ab"]
    seconds = [
        ComparisonQuestion(parse_comparison({**body, "systems": systems})).measuring
        for systems in (alike, apart)
    ]
    assert seconds[0] > 2  # 0.5 to 1.7 seconds a line were measured
    assert seconds[1] < seconds[0] / 10
