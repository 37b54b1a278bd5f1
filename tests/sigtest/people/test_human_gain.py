"""Longitudinal gain: the printed tables' arithmetic, and a bootstrap as a textbook writes it."""

import json

import numpy as np
import pytest
from scipy import stats

from sigtest.draws.weights import bootstrap_counts
from sigtest.people.compute import compute
from sigtest.people.question import parse
from sigtest.people.scores import NEW, OLD, figures, harmonic, mean_figures
from sigtest.people.statistics import interval

FOUR = {"best_old": "A", "best_new": "B", "current_old": "C", "current_new": "D"}


def printed(row):
    return figures({
        "current_old": row["CURR07"], "current_new": row["CURR12"],
        "best_old": row["BEST07"], "best_new": row["BEST12"],
    })  # fmt: skip


def test_gains_of_eacl_2014_tables_4_and_5(oracles):
    tables = json.loads((oracles / "seed_tables.json").read_text())
    for row in tables["eacl_2014_tables_4_5"]["rows"]:
        found = printed(row)
        assert found.delta == pytest.approx(row["delta"], abs=0.1001)  # printed with one decimal
        assert found.gain == pytest.approx(row["gain"], abs=0.1501)


def test_mean_gains_of_eacl_2014_table_3(oracles):
    tables = json.loads((oracles / "seed_tables.json").read_text())
    rows = tables["eacl_2014_tables_4_5"]["rows"]
    means = tables["eacl_2014_table_3"]["unweighted_macro_means_of_tables_4_5"]
    for measure, expected in means.items():
        found = mean_figures([printed(row) for row in rows if row["measure"] == measure])
        assert found.current_old == pytest.approx(expected["CURR07"], rel=1e-12)
        assert found.best_new == pytest.approx(expected["BEST12"], rel=1e-12)
        assert found.delta == pytest.approx(expected["delta"], abs=0.03)
        assert found.gain == pytest.approx(expected["gain"], abs=0.03)


def test_f1_is_the_harmonic_mean():
    assert harmonic(10.0, 15.0) == pytest.approx(12.0)
    assert harmonic(10.0, -1.0) is None


def judged(seed=1, criteria=("adequacy",)):
    rng = np.random.default_rng(seed)
    rows = []
    for c in criteria:
        for name, level, first in (("A", 45, 0), ("B", 60, 100), ("C", 62, 0), ("D", 52, 100)):
            for i in range(first, first + 60 - 10 * (name in "AD")):
                rows.append(
                    {
                        "annotator": f"w{i % 3}",
                        "system": name,
                        "segment": i,
                        "criterion": c,
                        "score": int(np.clip(rng.normal(level, 14), 0, 100)),
                    }
                )
    return rows  # fmt: skip


def means(rows, criterion="adequacy"):
    own = [row for row in rows if row["criterion"] == criterion]
    return {n: np.mean([row["score"] for row in own if row["system"] == n]) for n in "ABCD"}


def test_gain_of_four_systems():
    rows = judged()
    report = compute(parse({"judgements": rows, "longitudinal": FOUR, "resamples": 999}))
    (gain,) = report.gain
    found = gain.criteria["adequacy"]
    m = means(rows)
    assert found.raw.delta == pytest.approx(m["C"] - m["D"])
    assert found.raw.gain == pytest.approx(m["B"] - m["A"] + m["C"] - m["D"])
    assert found.raw.ci[0] < found.raw.gain < found.raw.ci[1]
    assert found.z.gain == pytest.approx(found.raw.gain / 16, rel=0.3)
    assert gain.f1_raw is None


def test_stars_stand_at_the_larger_mean_with_the_rank_sums_p():
    rows = judged()
    report = compute(parse({"judgements": rows, "longitudinal": FOUR, "standardise": "none"}))
    found = report.gain[0].criteria["adequacy"]
    by = {n: [r["score"] for r in rows if r["system"] == n] for n in "ABCD"}
    for old, new, p, names in (("C", "D", found.p_current, ("current_old", "current_new")),
                               ("A", "B", found.p_best, ("best_old", "best_new"))):  # fmt: skip
        larger, smaller = sorted((old, new), key=lambda n: -np.mean(by[n]))
        expected = stats.mannwhitneyu(by[larger], by[smaller], alternative="greater",
                                      method="asymptotic").pvalue  # fmt: skip
        assert p == pytest.approx(expected, rel=1e-9)
        stars = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
        place = names[0] if larger == old else names[1]
        assert found.stars.get(place, "") == stars
    assert set(found.stars) <= {"current_old", "current_new", "best_old", "best_new"}


def test_interval_draws_both_systems_of_a_test_set_together():
    rows = judged(4)
    report = compute(parse({"judgements": rows, "longitudinal": FOUR, "standardise": "none",
                            "resamples": 600, "seed": 21}))  # fmt: skip
    table = {n: {r["segment"]: r["score"] for r in rows if r["system"] == n} for n in "ABCD"}
    draws = []
    for resample in range(600):
        drawn = {}
        for best, current, stream in (("A", "C", OLD), ("B", "D", NEW)):
            units = sorted(set(table[best]) | set(table[current]))
            weights = bootstrap_counts(21, resample, resample + 1, len(units), stream)[0]
            for name in (best, current):
                own = [(float(w), table[name][u]) for w, u in zip(weights, units, strict=True)
                       if u in table[name]]  # fmt: skip
                drawn[name] = sum(w * x for w, x in own) / sum(w for w, _ in own)
        draws.append(drawn["B"] - drawn["A"] + drawn["C"] - drawn["D"])
    expected = interval(np.array(draws), 0.05)
    assert report.gain[0].criteria["adequacy"].raw.ci == pytest.approx(expected, rel=1e-12)


def test_several_language_pairs_end_with_their_mean():
    rows = judged(2, ("adequacy", "fluency"))
    other = {"best_old": "B", "best_new": "A", "current_old": "D", "current_new": "C"}
    report = compute(parse({"judgements": rows, "longitudinal": {"x-y": FOUR, "y-x": other},
                            "resamples": 99}))  # fmt: skip
    first, second, mean = report.gain
    assert [own.name for own in report.gain] == ["x-y", "y-x", "mean"]
    assert mean.criteria["fluency"].raw.gain == pytest.approx(
        (first.criteria["fluency"].raw.gain + second.criteria["fluency"].raw.gain) / 2
    )
    assert mean.criteria["fluency"].raw.ci is None
    a, f = first.criteria["adequacy"].raw.gain, first.criteria["fluency"].raw.gain
    assert first.f1_raw == pytest.approx(2 * a * f / (a + f))
    assert second.f1_raw is None
