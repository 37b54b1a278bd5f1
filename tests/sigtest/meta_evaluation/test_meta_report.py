"""Metric evaluations from request to report."""

import json
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scored import SYSTEMS, request, table
from sentences import sentences

from sigtest.draws.weights import bootstrap_counts
from sigtest.meta_evaluation.bootstrap import interval
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.kind import KIND
from sigtest.meta_evaluation.question import MetricQuestion, parse
from sigtest.meta_evaluation.report import MetaReport
from sigtest.meta_evaluation.significance import williams
from sigtest.render.formats import FORMATS
from sigtest.report import decode, encode
from sigtest.significance.corrections import adjust

METRICS = ("COMET", "BLEU", "TER")


def run(**choices: object) -> MetaReport:
    return compute(parse(request(**choices)))


def oriented(body: dict, label: str, level: str) -> np.ndarray:
    own = body["metrics"][label]
    return table(own, level) * (1 if own.get("higher", True) else -1)


def test_system_level_values_are_those_of_scipy():
    body = request()
    report = compute(parse(body))
    human = table(body["human"], "system")
    for metric in report.metrics:
        scores = oriented(body, metric.label, "system")
        assert metric.pearson.value == pytest.approx(stats.pearsonr(scores, human)[0])
        assert metric.spearman.value == pytest.approx(stats.spearmanr(scores, human)[0])
        assert metric.kendall.value == pytest.approx(stats.kendalltau(scores, human)[0])
        alike = [
            np.sign(scores[a] - scores[b]) == np.sign(human[a] - human[b])
            for a, b in combinations(range(6), 2)
        ]
        assert metric.accuracy.value == pytest.approx(np.mean(alike))
        assert metric.accuracy_ties.value >= metric.accuracy.value
        assert 0.5 < metric.soft_accuracy.value <= 1
        assert (metric.pearson.n, metric.accuracy.n, metric.soft_accuracy.n) == (6, 15, 15)
        for name in ("pearson", "spearman", "kendall", "accuracy", "soft_accuracy"):
            low, high = metric.statistic(name).ci
            assert low <= high


def test_means_that_tie_in_decimals_are_tied():
    rng = np.random.default_rng(8)
    human, metric = rng.integers(0, 10, (2, 40, 7))
    people, own = (
        {f"s{i}": row for i, row in enumerate((tenths / 10).tolist())} for tenths in (human, metric)
    )
    asked = {"human": {"scores": people}, "metrics": {"M": {"segment": own}}}
    (found,) = compute(parse(asked)).metrics
    first, second = human.sum(axis=1), metric.sum(axis=1)  # in whole numbers nothing is rounded
    alike = [
        np.sign(first[a] - first[b]) == np.sign(second[a] - second[b])
        for a, b in combinations(range(40), 2)
    ]
    assert found.accuracy.value == np.mean(alike)
    assert found.kendall.value == pytest.approx(stats.kendalltau(first, second)[0], rel=1e-12)
    assert found.spearman.value == pytest.approx(stats.spearmanr(first, second)[0], rel=1e-12)


@pytest.mark.parametrize(("group", "axis"), [("item", 0), ("system", 1)])
def test_grouped_values_are_means_of_scipys(group, axis):
    body = request(level="segment", group=group)
    report = compute(parse(body))
    human = np.moveaxis(table(body["human"], "segment"), axis, -1)
    for metric in report.metrics:
        scores = np.moveaxis(oriented(body, metric.label, "segment"), axis, -1)
        pairs = list(zip(scores, human, strict=True))
        expected = np.mean([stats.pearsonr(x, y)[0] for x, y in pairs])
        assert metric.pearson.value == pytest.approx(expected)
        expected = np.mean([stats.kendalltau(x, y)[0] for x, y in pairs])
        assert metric.kendall.value == pytest.approx(expected)
        assert metric.pearson.n == len(pairs)
    assert all(pair.test == "perm_both" for pair in report.pairs)
    units = {pair.statistic: pair.unit for pair in report.pairs}
    assert units["pearson"] == {"item": "segment", "system": "system"}[group]


@pytest.mark.parametrize(("group", "axis"), [("item", 0), ("system", 1)])
def test_pairs_are_held_together_where_both_metrics_say_something(group, axis):
    body = request(segments=12, level="segment", group=group, statistics=["pearson"])
    flat = {"BLEU": np.s_[:, :4] if group == "item" else np.s_[:2],
            "TER": np.s_[:, 9:] if group == "item" else np.s_[2:3]}  # fmt: skip
    for label, where in flat.items():
        scores = table(body["metrics"][label], "segment")
        scores[where] = 7.0
        body["metrics"][label]["segment"] = dict(zip(SYSTEMS, scores.tolist(), strict=True))
    report = compute(parse(body))
    human = np.moveaxis(table(body["human"], "segment"), axis, -1)
    r = {
        label: np.array([
            stats.pearsonr(x, y)[0] if np.ptp(x) else np.nan
            for x, y in zip(np.moveaxis(oriented(body, label, "segment"), axis, -1), human,
                            strict=True)
        ])
        for label in METRICS
    }  # fmt: skip
    counts = bootstrap_counts(12345, 0, 999, len(human))
    for metric in report.metrics:
        assert metric.pearson.value == pytest.approx(np.nanmean(r[metric.label]))
    for pair in report.pairs:
        both = ~np.isnan(r[pair.a]) & ~np.isnan(r[pair.b])
        a, b = r[pair.a][both], r[pair.b][both]
        assert pair.value_a == pytest.approx(a.mean())
        assert pair.value_b == pytest.approx(b.mean())
        assert pair.delta == pytest.approx((a - b).mean())
        expected = stats.permutation_test(
            (a, b), lambda x, y, axis: (x - y).mean(axis=axis), vectorized=True,
            permutation_type="samples", alternative="greater", n_resamples=np.inf,
        )  # fmt: skip
        assert pair.exact
        assert pair.p_value == pytest.approx(expected.pvalue)
        with np.errstate(invalid="ignore"):
            drawn = counts[:, both] @ (a - b) / counts[:, both].sum(axis=1)
        assert pair.ci == pytest.approx(interval(drawn, report.alpha, len(human)))


def test_missing_cells_are_dropped_pair_by_pair_before_any_reshape():
    body = request(level="segment", statistics=["pearson", "accuracy"], resamples=99)
    rng = np.random.default_rng(4)
    parts = [body["human"]["scores"], *body["metrics"].values()]
    masks = [rng.random((6, 30)) < 0.75 for _ in parts]
    for part, mask in zip(parts, masks, strict=True):
        for row, kept in zip(part["segment"].values(), mask, strict=True):
            row[:] = [value if keep else None for value, keep in zip(row, kept, strict=True)]
    report = compute(parse(body))
    human = table(body["human"], "segment")
    for m, metric in enumerate(report.metrics):
        both = masks[0] & masks[m + 1]
        scores = oriented(body, metric.label, "segment")
        assert metric.pearson.n == both.sum()
        expected = stats.pearsonr(scores[both], human[both])[0]
        assert metric.pearson.value == pytest.approx(expected)
    for pair in report.pairs:
        a, b = METRICS.index(pair.a) + 1, METRICS.index(pair.b) + 1
        cells = masks[0] & masks[a] & masks[b]
        assert pair.n == cells.sum()
        if pair.statistic == "pearson":
            own = oriented(body, pair.a, "segment")[cells]
            assert pair.value_a == pytest.approx(stats.pearsonr(own, human[cells])[0])


def test_williams_rows_have_r12_with_its_sign():
    body = request()
    report = compute(parse(body))
    rows = [pair for pair in report.pairs if pair.test == "williams"]
    assert [(pair.a, pair.b) for pair in rows] == list(combinations(METRICS, 2))
    for pair in rows:
        a, b = (oriented(body, label, "system") for label in (pair.a, pair.b))
        assert pair.r12 == pytest.approx(stats.pearsonr(a, b)[0])
        assert pair.df == 3
        assert pair.p_value == pytest.approx(stats.t.sf(pair.t, 3), rel=1e-9)
        assert pair.p_greater + pair.p_less == pytest.approx(1)
        assert (pair.exact, pair.count, pair.unit) == (True, None, "none")


def test_names_of_error_rates_that_are_read_as_qualities_are_said():
    human, scores = ({f"s{i}": k + i for i in range(4)} for k in (50, 20))
    metrics = {"ter": {"system": scores}, "chrf": {"system": scores}}
    body = {"human": {"scores": {"system": human}}, "metrics": metrics, "statistics": ["pearson"]}
    said = [own for own in sentences(compute(parse(body))) if "error rate" in own]
    assert len(said) == 1
    assert said[0].startswith("ter has the name of an error rate, and greater is read as better")
    for turned in (
        {"system": scores, "higher": False},
        {"system": {name: -score for name, score in scores.items()}},
    ):
        found = compute(parse(body | {"metrics": metrics | {"ter": turned}}))
        assert not any("error rate" in own for own in sentences(found))


def test_perm_both_of_systems_is_exact_and_equals_enumeration():
    body = request(statistics=["pearson"], tests=["perm_both"])
    human = table(body["human"], "system")
    for pair in compute(parse(body)).pairs:
        a, b = (oriented(body, label, "system") for label in (pair.a, pair.b))
        a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
        observed = np.corrcoef(a, human)[0, 1] - np.corrcoef(b, human)[0, 1]
        count = 0
        for kept in product((True, False), repeat=6):
            x, y = np.where(kept, a, b), np.where(kept, b, a)
            difference = np.corrcoef(x, human)[0, 1] - np.corrcoef(y, human)[0, 1]
            count += difference >= observed - 1e-9
        assert (pair.exact, pair.count, pair.resamples) == (True, count, 64)
        assert pair.p_value == pair.p_greater == count / 64
        assert pair.p_interval == (pair.p_value, pair.p_value)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_alternative_is_the_claim_about_the_first_metric(alternative):
    report = run(alternative=alternative)
    for pair in report.pairs:
        expected = {
            "greater": pair.p_greater,
            "less": pair.p_less,
            "two-sided": min(1.0, 2 * min(pair.p_greater, pair.p_less)),
        }[alternative]
        assert pair.p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("correction", ["holm", "none", "benjamini_hochberg"])
def test_families_are_all_pairs_of_a_statistic_and_test(correction):
    report = run(correction=correction)
    families: dict[tuple[str, str], list] = {}
    for pair in report.pairs:
        families.setdefault((pair.statistic, pair.test), []).append(pair)
    assert len(families) == 6
    for rows in families.values():
        p = np.array([[pair.p_greater, pair.p_less] for pair in rows])  # both claims of each
        expected = adjust(p.ravel(), correction).reshape(p.shape).min(axis=1)
        assert [pair.p_adjusted for pair in rows] == pytest.approx(expected.tolist())
        assert [pair.significant for pair in rows] == (expected <= 0.05).tolist()


def test_clusters_follow_from_one_sided_claims_both_ways():
    report = run(segments=400, seed=3, level="segment", correction="none")
    assert [metric.cluster for metric in report.metrics] == [1, 2, 3]
    assert [metric.range for metric in report.metrics] == [(1, 1), (2, 2), (3, 3)]
    place = report.metrics[1].ranks["accuracy"]["perm_both"]
    assert (place.cluster, place.range) == (2, (2, 2))
    assert report.sets[0].beats_baseline == ("COMET",)


def test_claims_in_both_directions_are_corrected_together():
    body = request(statistics=["pearson"], tests=["williams"], alpha=0.5)
    report = compute(parse(body))
    p = np.array([[pair.p_greater, pair.p_less] for pair in report.pairs])
    won = adjust(p.ravel(), "holm").reshape(-1, 2) <= 0.5
    better = dict.fromkeys(METRICS, 0)
    for pair, (a, b) in zip(report.pairs, won, strict=True):
        better[pair.b] += a
        better[pair.a] += b
    assert [metric.range[0] for metric in report.metrics] == [1 + better[m] for m in METRICS]


def test_a_constant_metric_has_no_correlation_and_a_warning():
    body = request()
    body["metrics"]["BLEU"]["system"] = dict.fromkeys(SYSTEMS, 30.0)
    report = compute(parse(body))
    flat = report.metrics[1]
    assert (flat.pearson.value, flat.pearson.ci) == (None, None)
    assert flat.accuracy.value == 0
    assert flat.ranks.get("pearson") is None
    for pair in report.pairs:
        if "BLEU" in (pair.a, pair.b) and pair.statistic == "pearson":
            assert (pair.p_value, pair.p_adjusted, pair.delta) == (None, None, None)
            assert not pair.significant
    assert any("whose scores are all equal: BLEU" in said for said in sentences(report))
    body["human"]["scores"]["system"] = dict.fromkeys(SYSTEMS, 0.5)
    report = compute(parse(body))
    assert all(metric.spearman.value is None for metric in report.metrics)
    assert any("All human scores are equal" in said for said in sentences(report))


def test_absolute_turns_metrics_round():
    body = request(absolute=True, statistics=["pearson"])
    plain = compute(parse(request(statistics=["pearson"])))
    body["metrics"]["TER"]["higher"] = True
    for first, second in zip(plain.metrics, compute(parse(body)).metrics, strict=True):
        assert second.pearson.value == pytest.approx(first.pearson.value, rel=1e-12)


def test_absolute_takes_three_correlations_without_sign():
    human = [0.0, 1, 2, 3, 4, 5, 6, 7]
    up, down = [0.0, 5, 1, 6, 1, 7, 2, 8], [5.0, 0, 6, 1, 7, 1, 8, 2]  # r12 < 0 < r13, r23
    names = [f"S{i}" for i in range(8)]
    body = {
        "human": {"scores": dict(zip(names, human, strict=True))},
        "metrics": {
            label: {"system": dict(zip(names, scores, strict=True))}
            for label, scores in (("up", up), ("down", down))
        },
        "tests": ["williams"],
        "statistics": ["pearson"],
    }
    found = {}
    for absolute in (False, True):
        (pair,) = compute(parse({**body, "absolute": absolute})).pairs
        r12 = abs(pair.r12) if absolute else pair.r12
        found[absolute] = williams(r12, pair.value_a, pair.value_b, 8).greater
        assert pair.r12 < 0 < min(pair.value_a, pair.value_b)
        assert pair.p_value == pytest.approx(found[absolute], rel=1e-12)
    assert found[True] != found[False]


def test_few_systems_are_warned_of():
    said = sentences(run(statistics=["pearson"], tests=["perm_both"]))
    assert any("PERM-BOTH of Pearson's r rejects true null hypotheses" in own for own in said)
    assert any("6 are few" in own for own in said)
    said = sentences(run(statistics=["pearson"], tests=["williams"]))
    assert not any("PERM-BOTH" in own for own in said)
    said = sentences(run(level="segment"))
    assert any(
        "The Williams test takes the scores of all systems on all segments to be indep" in own
        for own in said
    )


@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        ({"level": "segment", "statistics": ["accuracy"]}, "pairwise accuracy"),
        ({"statistics": ["accuracy_ties"]}, "pairwise accuracy with tie calibration"),
        ({"statistics": ["accuracy"]}, None),  # whole systems are exchanged
        ({"level": "segment", "statistics": ["kendall"], "group": "item"}, None),
    ],
)
def test_exchanges_of_pairs_that_share_a_system_are_warned_of(fields, warned):
    said = sentences(run(tests=["perm_both"], **fields))
    found = [own for own in said if "pairs of systems to be independent" in own]
    assert [own.startswith(f"PERM-BOTH of {warned} takes") for own in found] == (
        [] if warned is None else [True]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "least", "most"), [(3, 0.02, 0.08), (8, 0.08, 0.15)])
def test_exchanges_of_pairs_reject_as_often_as_the_warning_says(systems, least, most):
    def scores(*noisy: np.ndarray) -> dict[str, Any]:
        return {"segment": {f"S{i}": row.tolist() for i, row in enumerate(sum(noisy))}}

    def p_value(seed: int) -> float:
        draw = np.random.default_rng(seed).standard_normal
        quality, people, one, other = (draw((systems, 100)) for _ in range(4))
        asked = {
            "human": {"scores": scores(quality, people)},
            "metrics": {"one": scores(quality, one), "other": scores(quality, other)},
            "level": "segment", "statistics": ["accuracy"], "tests": ["perm_both"],
            "correction": "none", "resamples": 499, "seed": seed,
        }  # fmt: skip
        (pair,) = compute(parse(asked)).pairs
        assert pair.p_greater is not None
        return pair.p_greater

    assert least < np.mean([p_value(seed) <= 0.05 for seed in range(800)]) < most


def test_exchanges_of_pairs_of_three_systems_keep_their_level():
    three = request()
    three["exclude_systems"] = list(three["human"]["scores"]["system"])[3:]
    fields = {"level": "segment", "statistics": ["accuracy"], "tests": ["perm_both"]}
    said = sentences(compute(parse({**three, **fields})))
    assert not any("pairs of systems to be independent" in own for own in said)


def test_sets_pool_accuracy_over_pairs_and_share_families():
    bodies = {name: request(seed=seed) for name, seed in (("en-de", 1), ("he-en", 2))}
    bodies["he-en"]["human"]["scores"]["system"].pop("Fir")
    bodies["he-en"]["human"]["scores"]["segment"].pop("Fir")
    sets = {
        name: {"human": own["human"], "metrics": own["metrics"]} for name, own in bodies.items()
    }
    report = compute(parse({"sets": sets}))
    alone = [compute(parse(own)) for own in sets.values()]
    for m, metric in enumerate(report.metrics):
        first, second = (own.metrics[m] for own in alone)
        for name in ("accuracy", "soft_accuracy"):
            a, b = first.statistic(name), second.statistic(name)
            pooled = (15 * a.value + 10 * b.value) / 25
            tolerance = 0.02 if name == "soft_accuracy" else 1e-12  # own draws of each set
            assert metric.statistic(name).value == pytest.approx(pooled, abs=tolerance)
            assert metric.statistic(name).n == 25
        assert metric.pearson is None
        for own, expected in zip(report.sets, (first, second), strict=True):
            assert own.metrics[m].pearson.value == expected.pearson.value
    assert [pair.set for pair in report.pairs[:6]] == ["en-de"] * 3 + ["he-en"] * 3
    family = [p for p in report.pairs if (p.statistic, p.test) == ("pearson", "williams")]
    p = np.array([[pair.p_greater, pair.p_less] for pair in family])
    expected = adjust(p.ravel(), "holm").reshape(p.shape).min(axis=1)
    assert [pair.p_adjusted for pair in family] == pytest.approx(expected.tolist())


def test_a_metric_that_a_set_lacks_is_pooled_over_the_others():
    sets = {name: {k: request()[k] for k in ("human", "metrics")} for name in ("one", "two")}
    del sets["two"]["metrics"]["TER"]
    sets["two"]["exclude_systems"] = ["Aspen"]
    report = compute(parse({"sets": sets, "tests": []}))
    assert [metric.accuracy.n for metric in report.metrics] == [25, 25, 15]
    assert [own.excluded for own in report.sets] == [(), ("Aspen",)]
    assert any("TER is not among the metrics of two" in said for said in sentences(report))
    assert report.pairs == ()


def test_more_systems_than_can_be_enumerated_are_drawn():
    rng = np.random.default_rng(2)
    human = rng.normal(size=24)
    names = [f"S{i}" for i in range(24)]
    body = {
        "human": {"scores": dict(zip(names, human.tolist(), strict=True))},
        "metrics": {
            label: {
                "system": dict(
                    zip(names, (human + size * rng.normal(size=24)).tolist(), strict=True)
                )
            }
            for label, size in (("A", 0.5), ("B", 0.7))
        },
        "tests": ["perm_both"],
        "resamples": 999,
    }
    for pair in compute(parse(body)).pairs:
        if pair.unit == "system":
            assert (pair.exact, pair.resamples) == (False, 999)
            assert pair.p_value == (pair.count + 1) / 1000
            low, high = pair.p_interval
            assert low < pair.p_value < high


def test_only_systems_that_some_metric_scores_are_counted():
    body = request(statistics=["pearson"], tests=["williams"])
    for metric in body["metrics"].values():
        for scores in metric.values():
            if isinstance(scores, dict):
                scores.pop("Fir", None)
    report = compute(parse(body))
    assert [system.name for system in report.sets[0].systems].count("Fir") == 0
    assert {pair.n for pair in report.pairs} == {len(report.sets[0].systems)} == {5}
    said = FORMATS["text"].render(KIND.present(report))
    assert said.startswith("5 systems;")
    assert "people's scores of 5 systems" in " ".join(said.split())
    assert any("5 are few" in own for own in sentences(report))
    assert "Left out, as no metric scores them: Fir." in sentences(report)


def test_too_few_resamples_are_warned_of():
    report = run(level="segment", statistics=["pearson"], resamples=19, alpha=0.01)
    assert any("19 resamples are too few for 6 comparisons" in said for said in sentences(report))


def test_report_is_a_function_of_the_question_and_survives_json():
    asked = parse(request(level="segment"))
    report = compute(asked)
    text = json.dumps(encode(report), allow_nan=False)
    assert (
        json.dumps(encode(compute(decode(MetricQuestion, encode(asked)))), allow_nan=False) == text
    )
    assert decode(MetaReport, json.loads(text)) == report
    body = json.loads(text)
    assert {"signature", "version", "warnings", "metrics", "pairs", "sets"} <= set(body)
    assert body["metrics"][0]["pearson"].keys() == {"value", "ci", "n"}
    assert "epsilon" in body["metrics"][0]["accuracy_ties"]
    assert report.signature.startswith("statistics:pearson+spearman")


def test_progress_says_what_is_done():
    seen: list[tuple[str, int, int]] = []
    compute(parse(request(level="segment")), lambda *step: seen.append(step))
    assert {phase for phase, _, _ in seen} == {"statistics", "resampling", "report"}
    assert all(0 <= done <= total for _, done, total in seen)


def test_judgements_take_the_place_of_scores():
    rng = np.random.default_rng(6)
    quality = {f"{name}.{i}": i for i, name in enumerate(SYSTEMS)}
    judgements = [
        {
            "annotator": f"M{who}",
            "system": system,
            "segment": str(segment),
            "kind": "SYSTEM",
            "criterion": "adequacy",
            "score": float(np.clip(50 + 6 * level + rng.normal(0, 10), 0, 100)),
        }
        for system, level in quality.items()
        for segment in range(1, 21)
        for who in range(2)
    ]
    body = request(segments=20)
    report = compute(parse({**body, "human": {"judgements": judgements}}))
    assert [system.name for system in report.sets[0].systems] == list(SYSTEMS)
    people = [system.human for system in report.sets[0].systems]
    assert people == sorted(people)  # as the made-up quality has it
    assert report.sets[0].judged == 20
    assert "(human|" in report.signature


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_intervals_of_few_systems_hold_what_they_are_of(size, ties):
    """As a resample of all systems is not among them, ends are often the value itself."""
    rng = np.random.default_rng(size)
    for _ in range(10):
        people = rng.normal(size=size)
        tables = [people, people + 0.3 * rng.normal(size=size), -people]
        named = [
            dict(zip(SYSTEMS, (x.round(1) if ties else x).tolist(), strict=False)) for x in tables
        ]
        metrics = {f"m{i}": {"system": scores} for i, scores in enumerate(named)}
        found = compute(parse({"human": {"scores": named[0]}, "metrics": metrics, "resamples": 99}))
        for metric in found.metrics:
            for name in ("pearson", "spearman", "kendall", "accuracy"):
                statistic = metric.statistic(name)
                if statistic.ci is not None:
                    low, high = statistic.ci
                    assert -1.0 <= low <= statistic.value <= high <= 1.0
