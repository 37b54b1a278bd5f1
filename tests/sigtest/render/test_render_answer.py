"""The answer in words says what the report decided, and no more."""

from pathlib import Path
from typing import Any

import pytest
from sentences import sentences
from written import rendered

import sigtest
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.people.kind import KIND
from sigtest.render.formats import FORMATS
from sigtest.render.standings import abridged, answer, pair_rows
from sigtest.report import Report

REFERENCE = [f"word{i} and word{i + 1} stand on line {i} of this text" for i in range(60)]


def worse(lines: int) -> list[str]:
    return [
        line.replace("stand", "stood").replace("of this", "in that") if i < lines else line
        for i, line in enumerate(REFERENCE)
    ]


def report(systems: dict[str, list[str]], **choices: Any) -> Report:
    asked = {"references": REFERENCE, "systems": systems, "resamples": 999, **choices}
    return compare(parse_comparison(asked))


def test_systems_that_tie_for_the_first_place_are_named_with_what_would_show():
    found = report({"one": worse(20), "other": worse(22), "bad": worse(58)})
    first, tied, last = answer(found)
    pair = found.pairs[0]
    assert first.startswith("one and other may each be the best by bleu")
    assert f"p = {pair.p_adjusted:.2g}" in tied
    assert f"a difference of {pair.detectable[1]:.2f} would show with 80 % power" in tied
    assert last == "2 of 3 pairs differ significantly."


def test_where_resamples_are_too_few_to_show_anything_the_answer_asks_for_more():
    found = report({"one": worse(0), "other": worse(25), "bad": worse(50)}, resamples=19)
    first, tied, last = answer(found)
    assert first.endswith("no system is significantly better than any of them.")
    assert tied == f"{found.pairs[0].verdict}."
    assert "undecided" in tied
    needed = [pair.resamples_needed or 0 for pair in found.pairs if pair.undecided]
    assert last == (
        f"0 of 3 pairs differ significantly; {len(needed)} decisions are undecided, "
        f"try {max(needed)} resamples."
    )


def test_of_several_tests_it_is_said_which_decided_and_what_others_find():
    """The signs of four differences cannot show anything; their sizes can."""
    shifts = (0.0, 0.01, 0.0, 0.03)
    systems = {
        name: {"scores": {"x": [own * i + shift for i, shift in enumerate(shifts, 1)]}}
        for name, own in {"low": 0.1, "high": 1.0, "mid": 0.5}.items()
    }
    tests = ["sign_test", "paired_t"]
    asked = {"systems": systems, "metrics": ["scores:of=x"], "tests": tests, "alpha": 0.1}
    found = compare(parse_comparison(asked))
    apart = {t: sum(p.significant for p in found.pairs if p.test == t) for t in tests}
    assert apart == {"sign_test": 0, "paired_t": 3}
    last = "0 of 3 pairs differ significantly by sign test, 3 by paired t."
    assert answer(found)[-1] == last
    alone = compare(parse_comparison({**asked, "tests": ["sign_test"]}))
    assert answer(alone)[-1] == "0 of 3 pairs differ significantly."


def test_copies_are_said_to_be_alike():
    found = report({"one": worse(20), "copy": worse(20), "bad": worse(58)})
    assert "their scores are the same on every resample" in answer(found)[1]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c", "d"], "a, b, c and d"),
        (["a", "b", "c", "d", "e"], "a, b, c, d and 1 other"),
        (["a", "b", "c", "d", "e", "f"], "a, b, c, d and 2 others"),
    ],
)
def test_many_names_are_counted(names, words):
    assert abridged(names) == words


def test_a_difference_that_no_resample_changes_is_said_to_be_the_same():
    scores = {"one": [2.1, 2.5, 2.3], "other": [1.7, 2.1, 1.9], "bad": [0.0, 0.3, 0.7]}
    systems = [{"name": name, "scores": {"x": own}} for name, own in scores.items()]
    asked = {"systems": systems, "metrics": ["scores"], "resamples": 99}
    found = compare(parse_comparison(asked))
    assert answer(found)[1] == (
        "one and other cannot be told apart (+0.400 scores, p = 0.75 after Holm over 3 "
        "comparisons); it is the same on every resample."
    )
    verdicts = [row.verdict for row in pair_rows(found, "scores")]
    assert verdicts[0] == "not separated"
    assert "detects" in verdicts[1]


def test_a_page_that_stands_alone_says_the_answer_before_its_warnings():
    found = report({"one": worse(20), "copy": worse(20), "bad": worse(58)})
    shown = rendered("html", found)
    said = f'<p class="answer">{" ".join(answer(found))}</p>'
    assert said in shown
    assert shown.index(said) < shown.index(sentences(found)[0])


def test_the_pages_of_other_kinds_say_their_answers():
    campaign = Path(__file__).parents[3] / "examples/campaign"
    told = sigtest.human(campaign / "judgements.tsv", quality={"test": "paired_t"})
    shown = FORMATS["html"].render(KIND.present(told))
    assert '<p class="answer">birch is the best as people judge' in shown
