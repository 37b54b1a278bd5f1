"""Systems on items of their own, a number in the place of one, and several baselines."""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest, fisher_exact, norm
from sentences import sentences
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import sigtest
from sigtest import InputError, RecipeError
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.metrics.scores import Scores
from sigtest.report import Report
from sigtest.significance import TESTS, Alternative
from sigtest.significance.base import UnitsTest
from sigtest.significance.intervals import newcombe_interval, wilson_interval

CLAIMS: dict[Alternative, str] = {"two-sided": "two-sided", "greater": "greater", "less": "less"}
Systems = Mapping[str, Sequence[float]]


def right(k: int, n: int) -> list[float]:
    return [1.0] * k + [0.0] * (n - k)


def rows(k: int, n: int) -> Any:
    return np.array([[own, 1.0] for own in right(k, n)])


def compared(scores: Systems, **choices: Any) -> Report:
    return sigtest.compare(scores=scores, resamples=999, **choices)


def own_test(name: str) -> UnitsTest:
    found = TESTS[name]
    assert isinstance(found, UnitsTest)
    return found


# items of their own


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize(("n", "m"), [(10, 10), (7, 12), (1, 5), (40, 13)])
def test_fisher_s_test_is_scipy_s(claim, n, m):
    for k, j in product(range(0, n + 1, max(1, n // 8)), range(0, m + 1, max(1, m // 6))):
        own = own_test("fisher").p(Scores(), rows(k, n), rows(j, m), claim)
        other = fisher_exact([[k, n - k], [j, m - j]], CLAIMS[claim])[1]
        assert own.p_value == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize(
    ("counts", "ends"),
    [  # Newcombe (1998), table II, method 10
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0000)),
    ],
)
def test_intervals_of_unpaired_differences_are_newcombe_s(counts, ends):
    k, n, j, m = counts
    both = [
        np.array([[own / size], *wilson_interval(np.array([own]), size, 0.05)])
        for own, size in ((k, n), (j, m))
    ]
    low, high = newcombe_interval(both[0], both[1])
    assert (low[0], high[0]) == pytest.approx(ends, abs=5e-5)


def test_nine_of_ten_against_six_of_ten(data, capsys):
    path = data.parent / "cases" / "unpaired-counts" / "lr.csv"
    found = []
    for words in (
        ["compare", str(path), "--unpaired"],
        ["classify", "--correct", "9", "--n", "10", "--correct", "6", "--n", "10"],
    ):
        assert main([*words, "--format", "json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["pairs"][0])
    found.append(
        compared({"a": right(9, 10), "b": right(6, 10)}, unpaired=True).as_json()["pairs"][0]
    )
    for pair in found:
        assert pair["test"] == "fisher"
        assert pair["difference"] == pytest.approx(0.3)
        assert pair["ci"] == pytest.approx([-0.0824, 0.5988], abs=5e-5)
        assert pair["p_value"] == pytest.approx(0.3034, abs=5e-5)


def test_systems_may_have_other_numbers_of_items():
    report = compared({"a": right(3, 4), "b": right(6, 10), "c": right(1, 30)}, unpaired=True)
    assert [own.scores["scores"].score for own in report.systems] == [0.75, 0.6, 1 / 30]
    low, high = wilson_interval(np.array([6]), 10, 0.05)
    assert report.systems[1].scores["scores"].ci == (low[0], high[0])


def test_means_without_common_items_vary_each_for_itself():
    rng = np.random.default_rng(3)
    a, b = rng.normal(1.0, 1.0, 60), rng.normal(0.0, 2.0, 90)
    (pair,) = sigtest.compare(scores={"a": a, "b": b}, unpaired=True).pairs
    assert pair.test == "bootstrap_t"
    welch = (a.var() / len(a) + b.var() / len(b)) ** 0.5
    assert pair.stderr == pytest.approx(welch, rel=0.03)
    assert pair.difference == pytest.approx(a.mean() - b.mean())


def test_files_with_other_ids_are_compared_when_asked_for(tmp_path):
    for name, k, n in (("new", 5, 6), ("old", 2, 9)):
        lines = [f"{name}{i},{own:g}" for i, own in enumerate(right(k, n))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,correct", *lines, ""]))
    paths = [tmp_path / "new.csv", tmp_path / "old.csv"]
    with pytest.raises(InputError, match="unpaired"):
        sigtest.compare(from_=paths)
    read = sigtest.compare(from_=paths, unpaired=True)
    expected = fisher_exact([[5, 1], [2, 7]])[1]
    assert read.pairs[0].p_value == pytest.approx(expected)


def test_items_of_two_systems_are_no_own_items(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("id,system,score\nx1,a,1\nx2,a,0\nx2,b,1\nx3,b,1\n")
    with pytest.raises(InputError, match="'x2' has scores of 'a' and of 'b'"):
        sigtest.compare(from_=path, unpaired=True)


def test_many_systems_on_many_items_of_their_own_are_refused_before_they_take_memory():
    scores = {f"s{i}": [0.0, 1.0] * 600 for i in range(100)}
    with pytest.raises(InputError, match="100 systems with 120,000 items of their own"):
        compared(scores, unpaired=True)


@pytest.mark.parametrize("field", ["documents", "clusters"])
def test_items_of_documents_are_not_taken_for_independent(field, tmp_path):
    path = tmp_path / "scores.csv"
    lines = [f"{i},{'ab'[i % 2]},{i / 9},d{i % 4}" for i in range(12)]
    path.write_text("\n".join(["id,system,score,document", *lines, ""]))
    assert main(["compare", str(path), "--unpaired"]) == 2
    for brings in ({"from_": path}, {"scores": {"a": [0.1, 0.2], "b": [0.3, 0.4, 0.7]}}):
        documents = {} if "from_" in brings else {field: list("xxyyz")}
        with pytest.raises((InputError, RecipeError), match="mean score of each document"):
            sigtest.compare(**brings, **documents, unpaired=True)


def test_one_item_says_nothing_of_how_scores_vary():
    with pytest.raises(InputError, match="System 'b' has one item of its own"):
        compared({"a": [0.3, 0.4, 0.1], "b": [0.9]}, unpaired=True)
    with pytest.raises(InputError, match=r"against 0\.5 bring more"):
        compared({"a": [0.7]}, pairs={"baseline": 0.5})
    (pair,) = compared({"a": [1.0]}, pairs={"baseline": 0.5}).pairs
    assert pair.p_value == pytest.approx(binomtest(1, 1, 0.5).pvalue)


@pytest.mark.parametrize("choices", [{"unpaired": True}, {"pairs": {"baseline": 0.1}}])
def test_a_mean_that_does_not_vary_is_not_certain(choices):
    report = compared({"a": [0.5] * 3, "b": [0.3] * 3, "c": [0.2, 0.4, 0.6]}, **choices)
    assert "scores is the same for every item of a and b," in " ".join(sentences(report))
    shares = compared({"a": right(3, 3), "b": right(0, 3)}, unpaired=True)
    assert "same for every item" not in " ".join(sentences(shares))


@pytest.mark.parametrize(
    ("choices", "p"),
    [
        ({"unpaired": True}, fisher_exact([[3, 0], [0, 3]])[1]),
        ({"pairs": {"baseline": 0.5}}, binomtest(3, 3, 0.5).pvalue),
    ],
)
def test_a_share_keeps_its_exact_test_beside_other_scores(choices, p):
    values = {"a": right(3, 3), "b": right(0, 3)}
    scores = {name: {"acc": own, "lat": [1.5, 2.5, 4.0]} for name, own in values.items()}
    report = compared(scores, metrics=["scores:of=acc"], **choices)
    assert report.pairs[0].p_value == pytest.approx(p)
    assert compared(scores, metrics=["lat"], **choices).pairs[0].test == "bootstrap_t"
    with pytest.raises(RecipeError, match="acc is 0 or 1 for every item and lat is not"):
        compared(scores, **choices)
    named = compared(scores, tests=["bootstrap_t"], **choices)
    assert {pair.test for pair in named.pairs} == {"bootstrap_t"}


# a number


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("bar", [0.3, 0.5, 0.88])
def test_a_share_against_a_number_is_scipy_s_binomial_test(claim, bar):
    for k in range(13):
        (pair,) = compared({"a": right(k, 12)}, pairs={"baseline": bar}, alternative=claim).pairs
        assert pair.test == "binomial"
        assert pair.p_value == pytest.approx(binomtest(k, 12, bar, CLAIMS[claim]).pvalue)
        low, high = wilson_interval(np.array([k]), 12, 0.05)
        assert pair.ci == pytest.approx((low[0] - bar, high[0] - bar))


def test_a_number_is_the_same_in_every_door(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,score", *(f"q{i},{v:g}" for i, v in enumerate(right(11, 12)))]))
    stored = tmp_path / "report.json"
    assert main(["compare", str(path), "--baseline", "0.6", "--output", str(stored)]) == 0
    notebook = sigtest.compare(from_=path, pairs={"baseline": 0.6})
    assert json.loads(stored.read_text()) == notebook.as_json()
    assert main(["verify", str(stored), str(path)]) == 0


def test_a_mean_against_a_number_is_studentised():
    values = np.random.default_rng(1).normal(0.4, 1.0, 80)
    (pair,) = sigtest.compare(scores={"a": values}, pairs={"baseline": 0}).pairs
    assert pair.test == "bootstrap_t"
    assert pair.difference == pytest.approx(values.mean())
    assert pair.significant


@pytest.mark.parametrize(("k", "outcome"), [(12, "pass"), (8, "undecided"), (3, "fail")])
def test_a_gate_may_ask_for_a_number(k, outcome):
    report = sigtest.gate(scores={"a": right(k, 12)}, baseline=0.6)
    assert report.outcome == outcome
    assert report.systems[0].p_value == pytest.approx(binomtest(k, 12, 0.6, "greater").pvalue)
    assert report.systems[0].p_fail == pytest.approx(binomtest(k, 12, 0.6, "less").pvalue)
    low, high = proportion_confint(k, 12, 0.1, "beta")
    assert report.systems[0].ci == pytest.approx((low - 0.6, high - 0.6))
    assert (outcome == "pass") == (low >= 0.6)
    assert "power" not in str(report)


def test_a_gate_of_an_error_rate_turns_the_number_round():
    report = sigtest.gate(
        scores={"a": right(2, 20)}, metrics=["scores:higher=false"], baseline=0.3, margin=0.1
    )
    assert report.systems[0].p_value == pytest.approx(binomtest(2, 20, 0.4, "less").pvalue)

    assert report.systems[0].difference == pytest.approx(0.1 - 0.3)
    assert "scores (lower is better)" in str(report)
    assert "tests:binomial|" in report.signature
    assert "bootstrap" not in report.signature
    reached = sigtest.gate(
        scores={"a": right(2, 20)}, metrics=["scores:higher=false"], baseline=0.3
    )
    assert ": at most 0.3 scores, one-sided" in str(reached)


def test_an_a_a_gate_of_a_number_has_intervals_of_the_level_it_names():
    report = sigtest.gate(scores={"a": right(8, 12)}, baseline=0.6, claim="same")
    low, high = proportion_confint(8, 12, 0.05, "beta")
    assert report.systems[0].ci == pytest.approx((low - 0.6, high - 0.6))
    assert "95 % intervals" in str(report)


@pytest.mark.parametrize("claim", ["not_worse", "equivalent", "same"])
@pytest.mark.parametrize("alpha", [0.05, 0.025])
@pytest.mark.parametrize("higher", [True, False])
def test_the_power_of_a_gate_of_a_number_is_binomial(claim, alpha, higher):
    n, bar, margin = 200, 0.6, 0.1
    scores = {"a": right(90, n), "b": right(170, n)}
    asked = {} if claim == "same" else {"margin": margin}
    metrics = [f"scores:higher={str(higher).lower()}"]
    report = sigtest.gate(
        scores=scores, baseline=bar, claim=claim, alpha=alpha, metrics=metrics,
        correction="none", **asked,
    )  # fmt: skip
    power = 0.0
    for k in range(n + 1):
        above = binomtest(k, n, bar - margin, CLAIMS["greater"]).pvalue
        below = binomtest(k, n, bar + margin, CLAIMS["less"]).pvalue
        differ = 2 * min(binomtest(k, n, bar, CLAIMS[side]).pvalue for side in ("less", "greater"))
        passes = {"not_worse": (above if higher else below) <= alpha,
                  "equivalent": max(above, below) <= alpha,
                  "same": differ > alpha}[claim]  # fmt: skip
        power += passes * binom.pmf(k, n, bar)
    assert [system.power for system in report.systems] == pytest.approx([power, power])


@pytest.mark.parametrize(("only_new", "only_old"), [(0, 0), (2, 0), (5, 0), (9, 1), (0, 4), (3, 9)])
@pytest.mark.parametrize("higher", [True, False])
def test_a_gate_of_shares_passes_where_bonett_and_price_s_interval_says_so(
    only_new, only_old, higher
):
    n, margin, z = 40, 0.1, 1.6448536269514722
    values = {
        "new": right(only_new, only_new) + right(0, only_old) + right(20, n - only_new - only_old),
        "old": right(0, only_new) + right(only_old, only_old) + right(20, n - only_new - only_old),
    }
    if not higher:
        values = {name: [1 - own for own in row] for name, row in values.items()}
    report = sigtest.gate(
        scores=values, metrics=[f"scores:higher={str(higher).lower()}"], baseline="old",
        margin=margin,
    )  # fmt: skip
    middle = (only_new - only_old) / (n + 2)
    error = (((only_new + only_old + 2) / (n + 2) - middle**2) / (n + 2)) ** 0.5
    (system,), sign = report.systems, 1 if higher else -1
    assert sorted(sign * end for end in system.ci) == pytest.approx(
        [middle - z * error, middle + z * error]
    )
    assert system.p_value == pytest.approx(norm.sf((middle + margin) / error))
    assert system.p_fail == pytest.approx(norm.cdf((middle + margin) / error))
    assert (report.outcome == "pass") == (middle - z * error >= -margin)
    assert "tests:mcnemar|" in report.signature
    unlike = only_new + only_old
    power = 0.0
    for k in range(unlike + 1):
        middle = (2 * k - unlike) / (n + 2)
        error = (((unlike + 2) / (n + 2) - middle**2) / (n + 2)) ** 0.5
        power += (middle - z * error >= -margin) * binom.pmf(k, unlike, 0.5)
    assert system.power == pytest.approx(power)


@pytest.mark.parametrize(("k", "n", "j", "m"), [(9, 10, 6, 10), (12, 12, 15, 15), (9, 30, 8, 25)])
def test_a_gate_of_items_of_their_own_has_newcombe_s_interval(k, n, j, m):
    report = sigtest.gate(
        scores={"new": right(k, n), "old": right(j, m)}, unpaired=True, baseline="old", margin=0.15
    )
    low, high = confint_proportions_2indep(k, n, j, m, method="newcomb", alpha=0.1)
    (system,) = report.systems
    assert system.ci == pytest.approx((low, high))
    assert (report.outcome == "pass") == (low >= -0.15)
    ends = confint_proportions_2indep(k, n, j, m, method="newcomb", alpha=2 * system.p_value)
    assert ends[0] == pytest.approx(-0.15)


def test_systems_that_are_always_right_are_not_certain_to_be_alike():
    perfect = {"new": right(12, 12), "old": right(12, 12)}
    for choices in ({}, {"unpaired": True}):
        report = sigtest.gate(scores=perfect, baseline="old", margin=0.05, **choices)
        assert report.outcome == "undecided"
        assert report.systems[0].ci[0] < -0.05
        assert not report.warnings


# several baselines


def test_every_baseline_is_compared_with_all_others_once():
    rng = np.random.default_rng(2)
    scores = {name: rng.random(40) for name in "abcd"}
    report = compared(scores, pairs={"baseline": ["b", "d"]})
    assert [(pair.a, pair.b) for pair in report.pairs] == [
        ("a", "b"), ("c", "b"), ("d", "b"), ("a", "d"), ("c", "d"),
    ]  # fmt: skip
    assert report.comparisons == 5
    coming = compared(scores, pairs={"baseline": ["b", "d"]}, family=10)
    assert coming.comparisons == 9 + 8
    claims = compared(scores, pairs={"baseline": ["b", "d"]}, alternative="greater")
    assert claims.comparisons == len(claims.pairs) == 6


def test_baselines_are_repeated_in_the_shell(data, capsys):
    folder = data.parent / "cases" / "baseline-twice"
    files = [str(folder / f"{name}.csv") for name in ("bm25", "dph", "splade")]
    words = ["--metric", "scores:of=map", "--baseline", "bm25", "--baseline", "dph"]
    assert main(["compare", *files, *words]) == 0
    shown = capsys.readouterr().out
    assert "pairs:baseline=bm25/dph" in shown
    assert main(["compare", *files, *words, "--format", "html"]) == 0
    assert "better than bm25" in capsys.readouterr().out


# what does not go together


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"unpaired": True, "tests": ["mcnemar"]}, "mcnemar does not go with unpaired; take"),
        ({"pairs": {"baseline": 0.5}, "tests": ["fisher"]}, "take one of .*binomial"),
        ({"tests": ["binomial"]}, "binomial does not go with paired items; take one of .*mcnemar"),
        ({"tests": ["fisher"]}, "fisher does not go with paired items; take one of .*mcnemar"),
        ({"pairs": {"baseline": ["0.5", "0.6"]}}, "no other baseline"),
        ({"unpaired": True, "stratified": True}, "no strata"),
        ({"pairs": {"baseline": ["a", 0.5]}}, "no other baseline"),
        ({"pairs": {"baseline": []}}, "baseline"),
        ({"pairs": {"baseline": ["a", "a"]}}, "'a' 2 times"),
        ({"pairs": {"baseline": "c"}}, "Unknown baseline 'c'"),
        ({"pairs": {"baseline": 1}}, "binomial .* between 0 and 1, not 1"),
        ({"pairs": {"baseline": 1.5}, "tests": ["binomial"]}, "between 0 and 1, not 1.5"),
        ({"unpaired": True, "clusters": list("xxyy")}, "without documents|independent"),
        ({"unpaired": True, "labels": list("xxyy")}, "items of each system's own.*leave labels"),
        ({"unpaired": True, "source": list("xxyy")}, "leave source out"),
        ({"unpaired": True, "references": list("xxyy")}, "leave references out"),
    ],
)
def test_what_does_not_go_together_is_refused_before_it_is_computed(choices, message):
    systems = {"a": {"scores": {"s": right(2, 4)}}, "b": {"scores": {"s": right(3, 4)}}}
    with pytest.raises((RecipeError, InputError), match=message):
        parse_comparison({"systems": systems, **choices})


@pytest.mark.parametrize(
    ("test", "choices"),
    [
        ("mcnemar", {}),
        ("mcnemar_mid_p", {}),
        ("fisher", {"unpaired": True}),
        ("binomial", {"pairs": {"baseline": 0.5}}),
    ],
)
def test_tests_of_right_and_wrong_refuse_other_scores_before_anything_is_computed(test, choices):
    systems = {"a": {"scores": {"s": [1, 0, 1]}}, "b": {"scores": {"s": [1, 0.25, 1]}}}
    with pytest.raises(
        InputError, match=f"System 'b': {test} needs .* unit 2 has .* 0.25"
    ) as found:
        parse_comparison({"systems": systems, "tests": [test], **choices})
    assert (found.value.field, found.value.system) == ("systems[1].scores", "b")


@pytest.mark.parametrize("choices", [{"unpaired": True}, {"pairs": {"baseline": 0.5}}])
def test_a_stored_comparison_is_the_same_again(choices):
    scores = {"a": right(2, 5), "b": right(3, 5) + [1.0] * bool(choices.get("unpaired"))}
    systems = {name: {"scores": {"s": own}} for name, own in scores.items()}
    first = parse_comparison({"systems": systems, **choices})
    again = parse_comparison(json.loads(json.dumps(first.as_json())))
    assert again.plan.key == first.plan.key


# scores that are called as a metric is


def test_scores_without_texts_are_taken_by_the_name_of_a_metric(tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{i},{name},wer,{(i * k) % 5},false" for i in range(20) for name, k in SLOPES.items()]
    path.write_text("\n".join(["id,system,metric,score,higher_is_better", *rows, ""]))
    target = tmp_path / "r.json"
    assert main(["compare", "--from", str(path), "-m", "wer", "--output", str(target)]) == 0
    (label,) = (body := json.loads(target.read_text()))["metrics"]
    assert (label, body["metrics"]["wer"]["higher_is_better"]) == ("wer", False)
    assert "of:wer" in body["signature"]
    scores = {name: {"wer": [(i * k) % 5 for i in range(20)]} for name, k in SLOPES.items()}
    assert "of:wer" in sigtest.compare(scores=scores, metrics=["wer"]).signature
    texts = [f"a b c {i}" for i in range(20)]
    systems = [{"name": name, "hypotheses": texts, "scores": own} for name, own in scores.items()]
    body = {"references": [texts], "systems": systems, "metrics": ["wer"]}
    assert parse_comparison(body).recipe.labels == ("wer",)
    assert parse_comparison(body).recipe.metrics[0].name == "wer"


SLOPES = {"a": 2, "b": 3}
