"""The bootstrap-t: influence values, standard errors and p-values against textbook loops."""

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from computed import report_of, sample_of
from corpus import content
from heavytails import heavy, moved
from scipy import stats
from statsmodels.regression.linear_model import OLS

from sigtest.arrays import Array
from sigtest.comparison.comparison import parse_comparison
from sigtest.draws import studentised
from sigtest.draws.sample import Sample
from sigtest.draws.studentised import influence
from sigtest.draws.weights import bootstrap_counts, stratified_counts
from sigtest.engine import distribute
from sigtest.errors import RecipeError
from sigtest.metrics import METRICS
from sigtest.render import html, latex, records, text
from sigtest.render.comparison import document, pairs_sheet
from sigtest.render.pictures import PICTURES
from sigtest.report import Report, decode, encode
from sigtest.significance.intervals import drawn_in, heaviness, moved_out

RESAMPLES = 199


def scores(units: int, seed: int = 1, systems: int = 3) -> Array:
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(systems, units)) + 0.3 * np.arange(systems)[:, None]


def request_of(rows: Array, **fields: Any) -> dict[str, Any]:
    entries = [{"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(rows)]
    choices = {"metrics": ["scores"], "tests": ["bootstrap_t"], "resamples": RESAMPLES}
    return {"systems": entries, **choices, **fields}


def drawn(units: int, seed: int = 12345, resamples: int = RESAMPLES) -> Array:
    """(R, n) how often each unit is drawn."""
    return bootstrap_counts(seed, 0, resamples, units).astype(float)


def standard_error(values: Array) -> float:
    """Of a mean: `scipy.stats.sem`, which takes ten times as long, of few values."""
    return float(values.std(ddof=1) / len(values) ** 0.5)


def textbook(d: Array, counts: Array) -> tuple[float, Array]:
    """Observed t, and (studentised) t of every resample, unit by unit (Davison & Hinkley 5.2)."""
    values = []
    for row in counts.astype(int):
        resample = np.repeat(d, row)
        error = standard_error(resample)
        shift = resample.mean() - d.mean()
        values.append(shift / error if error > 1e-12 else np.copysign(1e300, shift))
    return float(d.mean() / stats.sem(d)), np.array(values)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("units", [12, 50])
def test_counts_are_those_of_the_textbook(units, alternative):
    rows = scores(units)
    report = report_of(request_of(rows, alternative=alternative))
    counts = drawn(units)
    extreme = {
        "two-sided": lambda t, values: np.abs(values) >= abs(t),
        "greater": lambda t, values: values >= t,
        "less": lambda t, values: values <= t,
    }[alternative]
    tails = []
    orders = itertools.combinations if alternative == "two-sided" else itertools.permutations
    for pair, (a, b) in zip(report["pairs"], orders(range(3), 2), strict=True):
        t, values = textbook(rows[a] - rows[b], counts)
        tails.append(0.0 if alternative == "two-sided" else heavy(rows[a] - rows[b]))
        assert pair["count"] == int(extreme(t, moved(values, tails[-1])).sum())
        assert pair["p_value"] == (pair["count"] + 1) / (RESAMPLES + 1)
        assert pair["exact"] is False
    assert alternative == "two-sided" or max(tails) > 0.01


def test_intervals_are_those_of_the_textbook():
    rows = scores(40)
    report = report_of(request_of(rows, interval="bootstrap_t"))
    counts = drawn(40)
    for pair, (a, b) in zip(report["pairs"], itertools.combinations(range(3), 2), strict=True):
        d = rows[a] - rows[b]
        ends = np.quantile(textbook(d, counts)[1], (0.025, 0.975), method="inverted_cdf")
        low, high = moved(ends, heavy(d))
        expected = d.mean() - stats.sem(d) * high, d.mean() - stats.sem(d) * low
        assert pair["ci"] == pytest.approx(expected, rel=1e-9)
    for system, row in zip(report["systems"], rows, strict=True):
        ends = np.quantile(textbook(row, counts)[1], (0.025, 0.975), method="inverted_cdf")
        low, high = moved(ends, heavy(row))
        expected = row.mean() - stats.sem(row) * high, row.mean() - stats.sem(row) * low
        assert system["scores"]["scores"]["ci"] == pytest.approx(expected, rel=1e-9)
    assert report["interval"] == "bootstrap_t"
    assert "|interval:bootstrap_t|" in report["signature"]


def test_percentile_intervals_stay_where_only_the_test_studentises():
    rows = scores(30)
    both, plain = (
        report_of(request_of(rows, tests=tests))
        for tests in (["bootstrap_t"], ["approximate_randomization"])
    )
    assert [p["ci"] for p in both["pairs"]] == [p["ci"] for p in plain["pairs"]]
    assert both["systems"][0]["scores"] == plain["systems"][0]["scores"]
    assert "interval" not in both


def test_standard_errors_over_documents_are_those_of_statsmodels():
    """Regression of the difference on nothing but a constant, errors clustered by document."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(2, 9, size=15)
    documents = np.repeat(np.arange(15), sizes)
    shared = rng.normal(size=(2, 15))[:, documents]
    rows = shared + rng.normal(size=(2, len(documents)))
    fields = {"documents": [f"d{i}" for i in documents], "unit": "document"}
    sample = sample_of(parse_comparison(request_of(rows, **fields)))
    d = rows[0] - rows[1]
    fitted = OLS(d, np.ones_like(d)).fit(cov_type="cluster", cov_kwds={"groups": documents})
    assert sample.studentised[0].errors[2] == pytest.approx(fitted.bse[0], rel=1e-9)
    for s in range(2):
        own = OLS(rows[s], np.ones_like(d)).fit(cov_type="cluster", cov_kwds={"groups": documents})
        assert sample.studentised[0].errors[s] == pytest.approx(own.bse[0], rel=1e-9)


PAIRS = ((0, 1), (0, 2), (1, 2))


def _text_sample(metric: str) -> Sample:
    choices = {"metrics": [metric], "tests": ["bootstrap_t"], "resamples": 99, "unit": "segment"}
    body = {**content(1), **choices}
    for system in body["systems"]:
        system.pop("scores", None)
    return sample_of(parse_comparison(body))


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter", "nist"])
def test_influence_values_of_corpus_scores_are_those_of_the_jackknife(metric):
    """Leaving units out one by one, (n - 1)(score - score without), agrees to first order."""
    sample = _text_sample(metric)
    scored, table = METRICS[metric](), sample.tables[0]
    found = influence(scored, table, sample.totals[0])
    units = table.shape[1]
    total = table.sum(axis=1)
    whole = scored.score(total)
    left_out = np.stack([scored.score(total - table[:, i]) for i in range(units)], axis=1)
    jackknife = (units - 1) * (whole[:, None] - left_out)
    jackknife -= jackknife.mean(axis=1, keepdims=True)
    for own, other in zip(found * units, jackknife, strict=True):
        # a unit holds 1 / 61 of the sums: terms of second order are a few per cent
        assert np.corrcoef(own, other)[0, 1] > 0.99
        assert own.std() == pytest.approx(other.std(), rel=0.1)


def test_blocks_change_no_bit():
    sample = _text_sample("bleu")
    (known,), rows = sample.studentised, slice(None)
    whole = known.resampled(rows, 0, 99)
    parts = [known.resampled(rows, *run) for run in ((0, 1), (1, 40), (40, 99))]
    for own, *others in zip(whole, *parts, strict=True):
        assert own.tobytes() == np.concatenate(others, axis=1).tobytes()
    counts = [sample.block(*run).studentised for run in ((0, 1), (1, 40), (40, 99))]
    assert (sample.block(0, 99).studentised == np.sum(counts, axis=0)).all()
    alone = known.resampled(slice(3, 4), 0, 99)
    assert [own[3].tobytes() for own in whole] == [own[0].tobytes() for own in alone]


def ratio_t(sums: Array, weights: Array, row: Array) -> tuple[float, float]:
    """A difference of ratios of documents' sums, and its standard error, in one resample.

    Davison & Hinkley (1997), section 5.2: G / (G - 1) times the sum of squares of what each
    document that was drawn adds to the difference, over the weight of the resample.
    """
    drawn = np.repeat(np.arange(len(row)), row.astype(int))
    difference, added = 0.0, np.zeros(len(drawn))
    for sign, own, weight in zip((1.0, -1.0), sums, weights, strict=True):
        ratio = own[drawn].sum() / weight[drawn].sum()
        difference += sign * ratio
        added += sign * (own[drawn] - ratio * weight[drawn]) / weight[drawn].sum()
    documents = len(drawn)
    return difference, float(np.sqrt(documents / (documents - 1) * (added**2).sum()))


def unequal(documents: int, seed: int = 3) -> tuple[Array, list[str]]:
    """Scores of two systems, and the documents of their segments: of lognormal sizes."""
    rng = np.random.default_rng(seed)
    sizes = np.ceil(3 * rng.lognormal(size=documents)).astype(int)
    document = np.repeat(np.arange(documents), sizes)
    effect = rng.normal(size=(2, documents)) + 0.3 * np.log(sizes)
    rows = effect[:, document] + rng.normal(size=(2, len(document)))
    return rows, [f"d{i}" for i in document]


@pytest.mark.parametrize("kind", ["documents", "weights", "ratio"])
def test_units_of_unequal_weight_have_the_errors_of_the_textbook(kind):
    """Each resample divides by the ratio's standard error in itself, not at the observed sums."""
    rows, documents = unequal(24)
    names = list(dict.fromkeys(documents))
    inside = np.array([[name == own for own in documents] for name in names]).astype(float)
    sums, weights = rows @ inside.T, np.tile(inside.sum(axis=1), (2, 1))
    fields: dict[str, Any] = {"documents": documents, "unit": "document"}
    if kind == "weights":
        fields, rows = {}, np.stack([sums / weights, weights], axis=2)
    elif kind == "ratio":  # each system has a denominator of its own
        fields, weights = {"metrics": ["ratio"]}, weights + np.array([[0.0], [1.0]])
        rows = np.stack([sums, weights], axis=2)
    report = report_of(request_of(rows, interval="bootstrap_t", **fields))
    difference, error = ratio_t(sums, weights, np.ones(24))
    found = [ratio_t(sums, weights, row) for row in drawn(24)]
    values = np.array([(own - difference) / spread for own, spread in found])
    (pair,) = report["pairs"]
    assert pair["count"] == int((np.abs(values) >= abs(difference / error) * (1 - 1e-9)).sum())
    influences = [
        (own - own.sum() / weight.sum() * weight) / weight.sum()
        for own, weight in zip(sums, weights, strict=True)
    ]
    ends = np.quantile(values, (0.025, 0.975), method="inverted_cdf")
    low, high = moved(ends, heavy(influences[0] - influences[1]))
    assert pair["ci"] == pytest.approx((difference - error * high, difference - error * low))


def test_errors_of_corpus_scores_are_those_of_gradients_at_the_resample():
    """BLEU of a resample, written out as a test set of its own, has the same standard error."""
    sample = _text_sample("bleu")
    (known,) = sample.studentised
    scored, table = sample.metrics[0], sample.tables[0]
    *_, errors = known.resampled(slice(None), 0, 5)
    for r, row in enumerate(drawn(table.shape[1], resamples=5).astype(int)):
        resampled = np.repeat(table, row, axis=1)
        own = influence(scored, resampled, resampled.sum(axis=1).T[:, :, None])
        own -= own.mean(axis=1, keepdims=True)
        expected = stats.sem(own, axis=1) * own.shape[1]
        assert errors[: len(own), r] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "fields", [pytest.param({}, marks=pytest.mark.slow), {"interval": "bootstrap_t"}]
)
def test_memory_does_not_grow_with_pairs_times_resamples(fields, monkeypatch):
    """40 systems have 780 pairs: of 4,000 resamples 25 MB an array, of 33 arrays each piece."""
    rows = np.random.default_rng(0).normal(size=(40, 10))
    expected = report_of(request_of(rows, resamples=4_000, **fields))
    monkeypatch.setattr(studentised, "TOGETHER", 1 << 18)
    tracemalloc.start()
    assert report_of(request_of(rows, resamples=4_000, **fields)) == expected
    assert tracemalloc.get_traced_memory()[1] < 25e6
    tracemalloc.stop()


def test_identical_systems_have_p_one_and_no_width():
    row = scores(20)[0]
    report = report_of(request_of(np.stack([row, row]), interval="bootstrap_t"))
    (pair,) = report["pairs"]
    assert (pair["p_value"], pair["ci"]) == (1.0, [0.0, 0.0])


@pytest.mark.parametrize("unit", [1.0, 1e20, 1e45, 1e-20])
@pytest.mark.parametrize("differing", [1, 2, 60])
def test_an_end_without_a_bound_is_said_to_have_none(unit, differing):
    d = np.zeros(60)
    d[:differing] = 1.0 + np.arange(differing) % 7
    report = report_of(request_of(unit * np.stack([d, 0 * d]), interval="bootstrap_t"))
    # a resample without any of few differing units varies not at all, which 1/e or 1/e^2 are
    least, most = np.quantile(textbook(d, drawn(60))[1], (0.025, 0.975), method="inverted_cdf")
    (pair,) = report["pairs"]
    expected = d.mean() - stats.sem(d) * moved(most, heavy(d))
    assert pair["ci"][0] / unit == pytest.approx(expected, rel=1e-9)
    if differing == 60:
        expected = d.mean() - stats.sem(d) * moved(least, heavy(d))
        assert pair["ci"][1] / unit == pytest.approx(expected, rel=1e-9)
        return
    assert (least, pair["ci"][1]) == (-1e300, None)  # JSON has no infinite number
    shown = decode(Report, report)
    assert shown.pairs[0].ci[1] == np.inf
    assert encode(shown) == report
    assert ",inf," in records.csv(pairs_sheet(shown))
    assert "inf]" in text.render(document(shown))
    assert "nan" not in html.blocks(document(shown).blocks, html.Look(intervals=True))
    assert r"\infty" in latex.render(document(shown))
    assert ", inf]" in PICTURES["intervals"].draw(shown, {})


@pytest.mark.parametrize(
    "fields", [{"interval": "bootstrap_t"}, {"tests": ["bootstrap"], "correction": "max_t"}]
)
def test_the_baseline_alone_has_a_score_and_no_pairs(fields):
    rows = scores(30)[:1]
    alone = report_of(request_of(rows, **fields))
    against = report_of(request_of(rows, pairs={"baseline": "s0"}, **fields))
    assert against["pairs"] == []
    assert against["systems"] == alone["systems"]


def test_a_difference_without_variance_is_found():
    row = np.arange(20) / 4
    (pair,) = report_of(request_of(np.stack([row + 0.5, row])))["pairs"]
    assert pair["count"] == 0


def test_the_picture_counts_what_the_report_counts():
    rows = scores(30)
    comparison = parse_comparison(request_of(rows, interval="bootstrap_t"))
    report = report_of(request_of(rows))
    shown = distribute(comparison, "s0", "s1", "scores", "bootstrap_t")
    t, values = textbook(rows[0] - rows[1], drawn(30))
    assert shown.observed == pytest.approx(t)
    assert shown.values == pytest.approx(values)
    assert report["pairs"][0]["count"] == int((np.abs(shown.values) >= abs(shown.observed)).sum())


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_the_picture_of_a_one_sided_claim_counts_what_the_report_counts(alternative):
    rows = np.random.default_rng(4).standard_t(3, size=(2, 30))
    rows[0] += 0.4
    comparison = parse_comparison(request_of(rows, alternative=alternative))
    pair = report_of(request_of(rows, alternative=alternative))["pairs"][0]
    shown = distribute(comparison, "s0", "s1", "scores", "bootstrap_t")
    assert moved(shown.observed, heavy(rows[0] - rows[1])) == pytest.approx(
        textbook(rows[0] - rows[1], drawn(30))[0]
    )
    beyond = shown.values >= shown.observed
    assert pair["count"] == int((beyond if alternative == "greater" else ~beyond).sum())


@pytest.mark.parametrize("far", [0.0, 1.0, -7.0, 1e30])
def test_one_unit_that_differs_says_nothing_of_tails(far):
    values = np.zeros((1, 30))
    values[0, 3] = far
    assert heaviness(values, np.zeros(30, dtype=np.int64)).tolist() == [0.0]
    assert heaviness(values[:, :3], np.zeros(3, dtype=np.int64)).tolist() == [0.0]


def test_drawing_in_undoes_moving_out():
    ends, tails = np.meshgrid([-40.0, -2.0, 0.0, 1e-9, 1.7, 1e6], [0.0, 1e-12, 0.01, 3.0])
    there = moved_out(ends, tails)
    assert drawn_in(there, tails, "less") == pytest.approx(ends, rel=1e-9)
    assert drawn_in(there, tails, "two-sided") is there
    assert drawn_in(np.array([np.inf]), np.array([0.1]), "greater").tolist() == [np.inf]


@pytest.mark.slow
def test_it_sees_skewness_that_exchanges_cannot():
    """Mean-zero exponential differences, one-sided at .05, n = 50: the lab has .058 and .102.

    With 400 simulations four binomial standard errors are .047 of .058, so only the order and a
    broad limit are asked for here; `python -m validation` has the numbers.
    """
    rng = np.random.default_rng(8)
    rejected = {"bootstrap_t": 0, "bootstrap": 0}
    for _ in range(150):
        d = rng.exponential(size=50) - 1.0
        rows = np.stack([d, np.zeros(50)])
        body = request_of(rows, tests=list(rejected), alternative="less", resamples=399)
        for pair in report_of(body)["pairs"][:2]:  # of the first claim
            rejected[pair["test"]] += pair["p_value"] <= 0.05
    assert rejected["bootstrap_t"] <= 20
    assert rejected["bootstrap_t"] < rejected["bootstrap"]


@pytest.mark.parametrize(
    ("simulations", "errors"), [(25, 0.28), pytest.param(120, 0.127, marks=pytest.mark.slow)]
)
def test_intervals_beside_p_values_are_as_documented(simulations, errors):
    """docs/VALIDITY.md: 14 % of 1,000; of 120, four standard errors are 12.7 %, of 25 28 %."""
    rng = np.random.default_rng(4)
    apart = 0
    for _ in range(simulations):
        rows = np.stack([rng.exponential(size=100) - 0.8, np.zeros(100)])

        def pair(rows: Array = rows, **fields: Any) -> Any:
            body = request_of(rows, interval="bootstrap_t", resamples=999, **fields)
            return report_of(body)["pairs"][0]

        both, wide = pair(), pair(alpha=0.1)["ci"]
        apart += both["p_value"] > 0.05 and not both["ci"][0] <= 0 <= both["ci"][1]
        assert (pair(alternative="greater")["p_value"] <= 0.05) == (wide[0] > 0)
        assert (pair(alternative="less")["p_value"] <= 0.05) == (wide[1] < 0)
    assert apart / simulations == pytest.approx(0.14, abs=errors)
    assert apart > 0


def stratified_error(d: Array, strata: Array) -> float:
    """Standard error of the mean of a stratified sample (Cochran 1977, section 5.3)."""
    inside = [d[strata == h] for h in np.unique(strata)]
    return float(sum(len(own) * own.var(ddof=1) for own in inside if len(own) > 1) ** 0.5 / len(d))


def test_within_strata_errors_are_those_of_stratified_samples():
    rows, strata = scores(40), np.arange(40) % 3
    rows[:, strata == 2] += [[3.0], [5.0], [2.0]]
    labels = [f"l{h}" for h in strata]
    body = request_of(rows, labels=labels, stratified=True, interval="bootstrap_t")
    report = report_of(body)
    counts = stratified_counts(12345, 0, RESAMPLES, strata, 1).astype(int)
    assert (counts[:, strata == 1].sum(axis=1) == (strata == 1).sum()).all()
    for pair, (a, b) in zip(report["pairs"], PAIRS, strict=True):
        d = rows[a] - rows[b]
        own = stratified_error(d, strata)
        values = np.array(
            [
                (np.repeat(d, row).mean() - d.mean())
                / stratified_error(np.repeat(d, row), np.repeat(strata, row))
                for row in counts
            ]
        )
        assert pair["count"] == int((np.abs(values) >= abs(d.mean() / own) * (1 - 1e-11)).sum())
        ends = np.quantile(values, (0.025, 0.975), method="inverted_cdf")
        low, high = moved(ends, heavy(*(d[strata == h] for h in range(3))))
        assert pair["ci"] == pytest.approx((d.mean() - own * high, d.mean() - own * low), rel=1e-9)


def test_a_stratum_of_one_unit_has_no_variance():
    rows = scores(13)
    labels = ["alone", *["other"] * 12]
    sample = sample_of(parse_comparison(request_of(rows, labels=labels, stratified=True)))
    expected = stats.sem(rows[:, 1:], axis=1) * 12 / 13
    assert sample.studentised[0].errors[:3] == pytest.approx(expected, rel=1e-9)


def several(rows: list[Array], **fields: Any) -> dict[str, Any]:
    testsets = [
        {"name": f"t{t}", "systems": request_of(own)["systems"]} for t, own in enumerate(rows)
    ]
    choices = {"metrics": ["scores"], "tests": ["bootstrap_t"], "resamples": RESAMPLES}
    return {"testsets": testsets, **choices, **fields}


def test_a_mean_over_test_sets_has_the_errors_of_independent_parts():
    rows = [scores(20, 1), scores(30, 2)]
    report = report_of(several(rows, interval="bootstrap_t"))["overall"]
    counts = [
        bootstrap_counts(12345, 0, RESAMPLES, own.shape[1], 1 + t).astype(int)
        for t, own in enumerate(rows)
    ]
    for pair, (a, b) in zip(report["pairs"], PAIRS, strict=True):
        d = [own[a] - own[b] for own in rows]
        difference = np.mean([own.mean() for own in d])
        error = np.hypot(*map(stats.sem, d)) / 2
        values = np.zeros(RESAMPLES)
        for r in range(RESAMPLES):
            resampled = [np.repeat(own, drawn[r]) for own, drawn in zip(d, counts, strict=True)]
            shift = np.mean([own.mean() for own in resampled]) - difference
            values[r] = shift / (np.hypot(*map(standard_error, resampled)) / 2)
        reached = np.abs(values) >= abs(difference / error) * (1 - 1e-11)
        assert pair["count"] == int(reached.sum())
        ends = np.quantile(values, (0.025, 0.975), method="inverted_cdf")
        low, high = moved(ends, heavy(*(own / len(own) for own in d)))
        expected = difference - error * high, difference - error * low
        assert pair["ci"] == pytest.approx(expected, rel=1e-9)


def test_pooled_test_sets_are_strata():
    rows = [scores(20, 1), scores(30, 2)]
    pooled = report_of(several(rows, pooled=True, interval="bootstrap_t"))["overall"]
    joined = np.concatenate(rows, axis=1)
    strata = {"labels": ["a"] * 20 + ["b"] * 30, "stratified": True, "interval": "bootstrap_t"}
    whole = report_of(request_of(joined, **strata))
    for mine, other in zip(pooled["pairs"], whole["pairs"], strict=True):
        assert (mine["count"], mine["ci"]) == (other["count"], pytest.approx(other["ci"]))


def test_kinds_of_intervals_that_there_are_not_are_refused():
    with pytest.raises(RecipeError, match="interval"):
        parse_comparison(request_of(scores(10), interval="normal"))
