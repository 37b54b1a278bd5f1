"""What a report warns of, on both sides of each limit; the wording is no concern of these tests."""

from typing import Any

import pytest
from computed import report_of
from corpus import Numbers
from sentences import sentences

BOOTSTRAP = "bootstrap"


def draws(size: int, seed: int = 1) -> list[float]:
    """Numbers on a grid of quarters, which any power of two multiplies exactly."""
    numbers = Numbers(seed)
    return [numbers.below(40) / 4 for _ in range(size)]


def of_scores(columns: dict[str, list[float]], **fields: Any) -> dict[str, Any]:
    systems = [{"name": name, "scores": {"x": column}} for name, column in columns.items()]
    choices = {"metrics": ["scores"], "tests": [BOOTSTRAP], "resamples": 9999}
    return {"systems": systems, **choices, **fields}


def warnings_of(columns: dict[str, list[float]], **fields: Any) -> list[str]:
    warnings: list[str] = sentences(report_of(of_scores(columns, **fields)))
    return warnings


def two(size: int, **fields: Any) -> list[str]:
    return warnings_of({"A": draws(size), "B": draws(size, 2)}, **fields)


def test_below_300_segments_a_bootstrap_is_warned_of():
    (warning,) = two(299)
    assert "299 segments" in warning
    assert two(300) == []


def test_of_one_segment_a_bootstrap_is_warned_of_by_itself():
    tests = ["approximate_randomization", "paired_bootstrap", "bootstrap_t"]
    found = [warning for warning in two(1, tests=tests) if "one segment" in warning]
    assert [
        "the paired bootstrap and the bootstrap-t test call any" in warning for warning in found
    ] == [True]
    assert not any("somewhat" in warning for warning in two(1))
    assert not any("one segment" in warning for warning in two(2))


@pytest.mark.parametrize(("second", "warned"), [("b", True), ("a", False)])
def test_of_one_segment_a_stratum_a_bootstrap_is_warned_of(second, warned):
    found = two(3, labels=["a", second, "c"], stratified=True)
    assert any("one segment in each stratum" in warning for warning in found) == warned


def test_documents_are_counted_where_they_are_the_units():
    for documents in (299, 300):
        fields = {"documents": [f"d{i // 2}" for i in range(2 * documents)], "unit": "document"}
        warnings = two(2 * documents, **fields)
        assert [f"{documents} documents" in warning for warning in warnings] == (
            [True] if documents == 299 else []
        )


def few(units: int, systems: int = 2, **fields: Any) -> list[str]:
    """Warnings that nothing can be found, where every system is better than the next."""
    columns = {f"S{i}": [float(i)] * units for i in range(systems)}
    said = warnings_of(columns, tests=["approximate_randomization"], **fields)
    return [warning for warning in said if "cannot find a difference" in warning]


def test_units_whose_exchanges_are_too_few_for_any_significant_p_are_warned_of():
    # the most extreme of 2**n exchanges, and its mirror: 2/32 > .05 >= 2/64, 1/16 > .05 >= 1/32
    (warning,) = few(5)
    assert "5 segments" in warning
    assert "0.062" in warning
    assert few(6) == []
    alone = {"alternative": "greater", "pairs": {"baseline": "S0"}}
    (warning,) = few(4, **alone)
    assert "0.062" in warning
    assert few(5, **alone) == []
    (warning,) = few(5, alternative="greater")  # two claims, of which one can be as extreme
    assert "0.031, 0.062 after correction" in warning
    (warning,) = few(5, alternative="greater", correction="benjamini_hochberg")
    assert "0.031, 0.062 after correction" in warning
    (warning,) = few(1)
    assert "1 segment " in warning
    (warning,) = few(6, systems=3)  # three pairs: 3 * 2/64 = 0.094
    assert "0.094 after correction" in warning
    assert few(6, systems=3, correction="none") == []
    assert few(6, systems=3, correction="benjamini_hochberg") == []  # all three at 2/64


def test_a_stratum_below_20_units_is_warned_of():
    def stratified(smallest: int) -> list[str]:
        labels = ["small"] * smallest + ["large"] * (400 - smallest)
        return two(400, labels=labels, stratified=True)

    (warning,) = stratified(19)
    assert "19 segments" in warning
    (warning,) = stratified(1)
    assert "1 segment;" in warning
    assert stratified(20) == []
    assert two(400, labels=["small"] + ["large"] * 399) == []


def test_strata_of_documents_are_counted_in_documents():
    def stratified(smallest: int) -> list[str]:
        documents = [f"d{i // 2}" for i in range(640)]
        labels = ["small" if i // 2 < smallest else "large" for i in range(640)]
        fields = {"documents": documents, "labels": labels, "unit": "document"}
        return two(640, stratified=True, **fields)

    (warning,) = stratified(19)
    assert "19 documents" in warning
    assert stratified(20) == []


def unequal(*sizes: float, shifts: tuple[float, ...] = (0, 0, 0)) -> list[str]:
    """Warnings where max-T compares systems with a baseline of zeros.

    All differences are multiples of one column, so that their standard errors are in exactly the
    ratio of the sizes.
    """
    column = draws(300)
    others = {
        f"S{i}": [size * value + shift for value in column]
        for i, (size, shift) in enumerate(zip(sizes, shifts, strict=True))
    }
    columns = {"baseline": [0.0] * 300, **others}
    return warnings_of(columns, correction="max_t", pairs={"baseline": "baseline"})


def test_standard_errors_above_twice_the_median_are_warned_of_with_max_t():
    (warning,) = unequal(0.5, 1, 2.0078125)
    assert "max-T" in warning
    assert unequal(0.5, 1, 2) == []  # twice is not above
    assert unequal(0.5, 1, 1.9921875) == []
    assert unequal(0.03125, 1, 1.9921875) == []  # the largest counts, not the smallest


def test_differences_that_never_vary_have_no_part_in_the_median():
    """Standard errors 0, 1 and 2.5: the median of those that vary is 1.75, of all it would be 1."""
    assert unequal(0, 1, 2.5, shifts=(5, 0, 0)) == []


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({}, 9_999),  # one pair: any smallest p is far below alpha
        ({"alpha": 0.01}, 9_999),
        ({"alpha": 1e-4}, 39_999),
    ],
)
def test_fewer_resamples_than_the_corrected_level_needs_are_warned_of(fields, needed):
    (warning,) = two(300, **{**fields, "resamples": needed - 1})
    assert f"{needed:,}" in warning
    assert f"{needed - 1:,}" in warning
    assert two(300, **{**fields, "resamples": needed}) == []


def failing(failures: int, gain: float = 0.0, units: int = 100) -> list[str]:
    """Of so many units B fails on some, by 1, and is behind by `gain` on all others."""
    rows = {"A": [1.0] * units, "B": [0.0] * failures + [1.0 - gain] * (units - failures)}
    return [said for said in warnings_of(rows) if "rule of three" in said]


def test_differences_that_a_few_units_hold_are_warned_of():
    """Resampled, k failures of 100 are binomial: skewness .94, .47, .34 for 1, 4 and 7 of them.

    Beyond .316 (ten rare units) and three standard errors of 9,999 draws, .073, they are few.
    """
    (one,), (four,) = failing(1), failing(4)
    assert "100 segments" in four
    assert "3/100 = 0.03 of all segments" in four
    assert "in scores for 1 of 1 pair (most: A and B)" in four
    assert one == four
    assert failing(7) == []
    assert failing(50) == []


def test_a_few_units_that_hold_less_than_half_are_not_warned_of():
    """Four failures are 4 of 4 + 96 gains: .58 of the sum for gains of .03, .45 for .05."""
    assert failing(4, gain=0.03)
    assert failing(4, gain=0.05) == []


def test_a_few_units_that_speak_against_the_difference_are_not_warned_of():
    assert failing(4, gain=-0.02)  # .04 of failures, .019 of gains the other way
    assert failing(4, gain=-0.1) == []


def test_a_tenth_of_the_units_are_not_few():
    """Of 20 units one failure has skewness .92 and is a twentieth; two have .63, below .78."""
    assert failing(1, units=20)
    assert failing(2, units=20) == []


def test_a_few_units_are_warned_of_beside_skewness_in_one_sentence():
    rows = {"A": [2.0] * 400, "B": [0.0] * 3 + [2.0] * 397, "C": [0.0] * 2 + [2.0] * 398}
    skewed, few = warnings_of(rows)
    assert "bootstrap_t" in skewed
    assert "in scores for 3 of 3 pairs (most: B and C)" in few
    assert "3/400" in few
    studentised = warnings_of(rows, tests=["bootstrap_t"])
    assert [said for said in studentised if "rule of three" in said] == [few]


def test_pairs_are_counted_as_other_numbers_are_written():
    """46 systems have 46 x 45 / 2 = 1,035 pairs; all with the odd one are skewed."""
    rows = {f"s{i}": [1.0] * 400 for i in range(45)} | {"odd": [9.0] + [1.0] * 399}
    (skewed,) = (said for said in warnings_of(rows, resamples=1_999) if "skewed" in said)
    assert "in scores for 45 of 1,035 pairs" in skewed


def test_warnings_say_what_to_choose_without_options_of_the_shell():
    rows = {"A": [2.0] * 400, "B": [0.0] * 3 + [2.0] * 397}
    documents = [f"d{i // 2}" for i in range(400)]
    warned = " ".join(warnings_of(rows, documents=documents, unit="segment"))
    assert 'resampled instead (unit "document")' in warned
    assert "bootstrap_t" in warned
    assert "--" not in warned


def test_segments_of_known_documents_are_warned_of_unless_documents_are_drawn():
    documents = [f"d{i}" for i in range(300)]
    (warning,) = two(300, documents=documents, unit="segment")
    assert "document" in warning
    assert two(300, documents=documents) == two(300, documents=documents, unit="document") == []


def test_identical_systems_are_named():
    column = draws(300)
    columns = {"A": column, "B": draws(300, 2), "C": column, "D": column}
    (warning,) = warnings_of(columns)
    assert "A, C, D" in warning
    columns["C"] = [*column[:-1], column[-1] + 1]
    # a single unit that differs is as skewed as can be, and warned of, too
    (warning,) = [said for said in warnings_of(columns) if "identical" in said]
    assert "A, D" in warning


@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        ({"tests": ["riezler_maxwell_bootstrap"]}, ["11 %"]),
        ({"tests": ["approximate_randomization"], "correction": "tukey"}, ["exchangeable"]),
        ({"tests": ["approximate_randomization"]}, []),
    ],
)
def test_choices_that_hold_no_level_are_warned_of(fields, warned):
    found = two(300, **fields)
    assert len(found) == len(warned)
    assert all(words in warning for words, warning in zip(warned, found, strict=True))


def test_several_test_sets_too_few_for_their_own_tests_are_warned_of():
    """Two-sided, T test sets can give p = 2 / 2**T at best: .0625 for 5, .03125 for 6."""

    def over(testsets: int, **fields: Any) -> list[str]:
        bodies = [
            {
                "name": f"t{t}",
                "systems": of_scores({"A": draws(9, t), "B": draws(9, -t)})["systems"],
            }
            for t in range(1, testsets + 1)
        ]
        choices = {"metrics": ["scores"], "tests": [BOOTSTRAP], "resamples": 99, **fields}
        warnings: list[str] = sentences(report_of({"testsets": bodies, **choices}))
        return warnings

    (warning,) = over(5)
    assert "0.0625" in warning
    assert over(6) == []
    assert over(5, alternative="greater") == []
    (warning,) = over(4, alternative="greater")
    assert "0.0625" in warning
    assert over(4, alternative="greater", alpha=0.0625) == []


def test_warnings_name_tests_and_corrections_as_sentences_do():
    tests = ["bootstrap", "paired_bootstrap", "riezler_maxwell_bootstrap", "paired_t", "sign_test"]
    said = " ".join(two(9, tests=tests, correction="benjamini_hochberg", resamples=9))
    assert "the paired bootstrap and the bootstrap test of Riezler and Maxwell reject true" in said
    assert "at alpha 0.05 with Benjamini-Hochberg: use" in said
    assert "_" not in said.replace("(corrected_t)", "")


@pytest.mark.parametrize(
    ("label", "sign", "higher", "warned"),
    [
        ("ter", 1, True, True),
        ("TER", 1, False, False),
        ("MetricX-23", -1, True, False),
        ("comet", 1, True, False),
    ],
)
def test_error_rates_that_are_read_as_qualities_are_warned_of(label, sign, higher, warned):
    systems = [
        {"name": name, "scores": {label: [sign * (i + k) for k in range(4)]}}
        for i, name in enumerate("AB")
    ]
    metric = {"name": "scores", "of": label, "higher": higher}
    report = report_of({"systems": systems, "metrics": [metric], "resamples": 99})
    assert warned == any("name of an error rate" in said for said in sentences(report))


WER = {"A": [[1, 2], [0, 10], [0, 10], [3, 4]], "B": [[2, 2], [0, 10], [1, 10], [0, 4]]}


@pytest.mark.parametrize("metric", ["scores:of=wer", "scores:of=wer,higher=false"])
def test_errors_and_words_lead_to_their_ratio_by_the_advice(metric):
    systems = [{"name": name, "scores": {"wer": rows}} for name, rows in WER.items()]
    body = {"systems": systems, "resamples": 99}
    warnings = sentences(report_of({**body, "metrics": [metric]}))
    (said,) = (own for own in warnings if own.startswith("wer"))
    report = report_of({**body, "metrics": [said.split(": ")[-1].split(" (")[0]]})
    scores = {own["name"]: own["scores"]["wer"]["score"] for own in report["systems"]}
    # jiwer's definition: all errors over all words
    assert scores == {"A": pytest.approx(4 / 26), "B": pytest.approx(3 / 26)}
    assert report["metrics"]["wer"]["higher_is_better"] is False
    assert not any(own.startswith("wer") for own in sentences(report))


def test_other_pairs_of_numbers_are_scores_and_weights():
    for label, rows in (("wer", [[0.5, 2], [1, 3]]), ("comet", WER["A"][:2])):
        systems = [{"name": name, "scores": {label: rows}} for name in "AB"]
        report = report_of({"systems": systems, "resamples": 99})
        assert not any("ratio" in own for own in sentences(report))


@pytest.mark.parametrize(
    ("metric", "lines", "said"),
    [
        ("bleu", ["North Bridge", "Blue Lake"], "4-gram, so that its bleu is 0"),
        ("bleu", ["North Bridge.", "The Blue Lake."], None),  # four tokens with the mark
        ("bleu:effective_order=true", ["North Bridge", "Blue Lake"], None),
        ("bleu:max_ngram_order=3", ["North Bridge", "Blue Lake"], "3-gram"),
        ("bleu:tokenize=char", ["North Bridge", "Blue Lake"], None),
        ("chrf", ["North Bridge", "Blue Lake"], None),
    ],
)
def test_bleu_of_segments_without_its_longest_ngram_is_warned_of(metric, lines, said):
    systems = {"A": lines, "B": ["Old Bridge", *lines[1:]]}
    body = {"references": lines, "systems": systems, "metrics": [metric], "resamples": 99}
    warnings = [own for own in sentences(report_of(body)) if "-gram" in own]
    assert len(warnings) == (said is not None)
    assert all(said in own and "chrf" in own for own in warnings if said)
