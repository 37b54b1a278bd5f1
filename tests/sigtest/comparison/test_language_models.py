"""Evaluations of language models: proportions, runs, clusters, one model; held to statsmodels."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentences import sentences
from statsmodels.regression.linear_model import OLS, WLS
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

import sigtest
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.runs import spread_of
from sigtest.engine import compare
from sigtest.errors import RecipeError
from sigtest.files.gathering import read_bytes
from sigtest.files.join import join
from sigtest.requests.recipe import parse_metric


def asked(scores, **choices):
    systems = {name: {"scores": {"acc": list(map(float, row))}} for name, row in scores.items()}
    return compare(
        parse_comparison(
            {"systems": systems, "metrics": [{"name": "scores", "of": "acc"}], **choices}
        )
    )


def test_a_filter_of_the_harness_is_chosen_by_its_label():
    for spelled in (
        "scores:of=em,strict-match,higher=false",
        "scores:higher=false,of=em,strict-match",
    ):
        metric = parse_metric(spelled)
        assert metric == parse_metric({"name": "scores", "of": "em,strict-match", "higher": False})
    with pytest.raises(RecipeError, match="'em' of metric 'scores' needs a value"):
        parse_metric("scores:em")
    with pytest.raises(RecipeError, match="'of' of metric 'scores' needs a value"):
        parse_metric("scores:of,strict-match")


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_p_of_right_and_wrong_is_mcnemars(seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.random(200) < p for p in (0.7, 0.6))
    report = asked({"a": a, "b": b})
    table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
    (pair,) = report.pairs
    assert pair.exact
    assert pair.p_value == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)
    assert any("that of McNemar's exact test" in warning for warning in sentences(report))
    graded = asked({"a": np.where(a, 0.5, 0), "b": b})
    assert not any("McNemar" in warning for warning in sentences(graded))


def test_shares_have_wilsons_intervals_whatever_the_bootstrap_says():
    report = asked({"best": np.ones(100), "worse": np.arange(100) < 50})
    for system, right in zip(report.systems, (100, 50), strict=True):
        expected = proportion_confint(right, 100, 0.05, "wilson")
        assert system.scores["acc"].ci == pytest.approx(expected, abs=1e-12)
    labels = sigtest.compare(
        references=["yes", "no", "no", "yes"],
        systems={"new": ["yes", "no", "no", "no"], "old": ["no", "no", "no", "no"]},
        metrics=["accuracy"], resamples=99,
    )  # fmt: skip
    expected = proportion_confint(3, 4, 0.05, "wilson")
    assert labels.systems[0].scores["accuracy"].ci == pytest.approx(expected)


def bonett_price(only_a, only_b, items, z=1.959963984540054):
    """As the paper prints it, one pair at a time."""
    p12, p21 = (only_a + 1) / (items + 2), (only_b + 1) / (items + 2)
    half = z * ((p12 + p21 - (p12 - p21) ** 2) / (items + 2)) ** 0.5
    return max(-1, p12 - p21 - half), min(1, p12 - p21 + half)


def test_differences_of_shares_have_bonett_and_prices_intervals():
    """Also where nothing differs, and where all does; the first was worked out by hand."""
    cases = {(2, 0, 12): (-0.127, 0.413), (0, 0, 12): None, (30, 0, 30): None, (9, 4, 40): None}
    for (only_a, only_b, items), known in cases.items():
        a, b = np.zeros(items), np.zeros(items)
        a[:only_a] = b[only_a : only_a + only_b] = 1
        expected = bonett_price(only_a, only_b, items)
        (pair,) = asked({"a": a, "b": b}).pairs
        assert pair.ci == pytest.approx(expected, abs=1e-12)
        assert known is None or pair.ci == pytest.approx(known, abs=5e-4)


def test_only_shares_of_segments_have_intervals_of_shares():
    graded = asked({"a": np.linspace(0, 1, 60), "b": np.zeros(60)})
    assert graded.systems[1].scores["acc"].ci == (0, 0)
    halves = [f"c{i // 2}" for i in range(60)]
    right = np.arange(60) < 40
    chosen = {
        "clusters": {"clusters": halves, "unit": "cluster"},
        "interval": {"interval": "bootstrap_t"},
        "strata": {"labels": halves, "stratified": True},
    }
    wilson = proportion_confint(40, 60, 0.05, "wilson")
    for how in chosen.values():
        drawn = asked({"a": right}, **how)
        assert drawn.systems[0].scores["acc"].ci != pytest.approx(wilson, abs=1e-6)


def in_clusters(rng, count=6):
    """Numbers of clusters of unequal sizes, mixed, and names for them."""
    cluster = rng.permutation(np.repeat(np.arange(count), rng.integers(2, 9, size=count)))
    return cluster, [f"c{c}" for c in cluster]


@pytest.mark.parametrize("seed", range(4))
def test_the_clustered_standard_error_is_that_of_statsmodels_and_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    cluster, names = in_clusters(rng)
    size = len(names)
    rows = {"right": rng.random(size) < 0.7, "graded": rng.random(6)[cluster] + rng.random(size)}
    report = asked(rows, clusters=names, unit="cluster", resamples=99)
    for system in report.systems:
        own = rows[system.name].astype(float)
        fit = OLS(own, np.ones(size)).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        found = system.scores["acc"].clustered_stderr
        assert found == pytest.approx(fit.bse[0], rel=1e-9)
        squares = 0.0
        for group in set(cluster.tolist()):
            squares += (
                sum(v - own.mean() for v, c in zip(own, cluster, strict=True) if c == group) ** 2
            )
        assert found == pytest.approx((squares * 6 / 5) ** 0.5 / size, rel=1e-12)


def test_weighted_scores_have_the_clustered_error_of_weighted_least_squares():
    rng = np.random.default_rng(7)
    cluster, names = in_clusters(rng)
    own, weights = rng.random(len(names)), rng.integers(1, 9, size=len(names))
    pairs = [list(map(float, row)) for row in zip(own, weights, strict=True)]
    report = sigtest.compare(scores={"a": pairs}, clusters=names, unit="cluster", resamples=99)
    fit = WLS(own, np.ones(len(own)), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}
    )
    (score,) = report.systems[0].scores.values()
    assert score.clustered_stderr == pytest.approx(fit.bse[0], rel=1e-9)


def test_labels_in_documents_have_a_clustered_error_too(tmp_path):
    rng = np.random.default_rng(12)
    cluster, names = in_clusters(rng)
    gold, said = ([f"{label}" for label in rng.integers(0, 2, len(names))] for _ in range(2))
    report = sigtest.compare(
        references=gold, systems={"a": said, "b": gold}, documents=names, unit="document",
        metrics=["accuracy"], resamples=99,
    )  # fmt: skip
    right = np.array([g == s for g, s in zip(gold, said, strict=True)], dtype=float)
    fit = OLS(right, np.ones(len(right))).fit(cov_type="cluster", cov_kwds={"groups": cluster})
    found = {system.name: system.scores["accuracy"].clustered_stderr for system in report.systems}
    assert found == pytest.approx({"a": fit.bse[0], "b": 0.0}, rel=1e-9)


def test_every_format_has_the_clustered_error(tmp_path, capfdbinary):
    path = tmp_path / "items.csv"
    rows = [f"q{i},p{i // 4},{int(i % 3 > 0)}" for i in range(24)]
    path.write_text("\n".join(["id,cluster,score", *rows]))
    given = ["compare", str(path), "--unit", "cluster", "--resamples", "99"]
    report = sigtest.compare(from_=path, unit="cluster", resamples=99)
    (score,) = report.systems[0].scores.values()
    assert score.clustered_stderr
    for form in ("text", "html", "latex", "markdown"):
        assert main([*given, "--format", form]) == 0
        assert b"clustered se" in capfdbinary.readouterr().out
    assert main([*given, "--format", "csv", "--table", "systems"]) == 0
    header, row = capfdbinary.readouterr().out.decode().splitlines()
    assert header.endswith(",clustered_stderr")
    assert float(row.rsplit(",", 1)[1]) == score.clustered_stderr
    assert sigtest.Report.from_json(report.as_json()).systems == report.systems
    plain = sigtest.compare(from_=path, resamples=99, unit="segment").systems[0].scores.values()
    assert [own.clustered_stderr for own in plain] == [None]


def test_standard_errors_of_items_are_said_to_know_no_clusters(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [f"q{i},p{i // 4},{r},{int((i + r) % 3 > 0)}" for i in range(24) for r in range(2)]
    path.write_text("\n".join(["id,cluster,run,score", *rows]))
    reports = [
        sigtest.compare(from_=path, unit=unit, resamples=99) for unit in ("cluster", "segment")
    ]
    said = [[w for w in sentences(r) if "take items as independent" in w] for r in reports]
    assert [len(own) for own in said] == [1, 0]


def test_the_variance_of_items_and_that_of_runs_are_told_apart():
    rng = np.random.default_rng(5)
    table = rng.random(40)[None, :] + 0.1 * rng.random((4, 40)) + 0.2 * rng.random((4, 1))
    by_item = [sum(table[r][i] for r in range(4)) / 4 for i in range(40)]
    by_run = [sum(table[r]) / 40 for r in range(4)]

    def variance(values):
        mean = sum(values) / len(values)
        return sum((value - mean) ** 2 for value in values) / (len(values) - 1)

    found = spread_of(table)
    assert found.items == pytest.approx(variance(by_item) / 40)
    assert found.runs == pytest.approx(variance(by_run) / 4)
    rows = ["id,system,run,score"]
    rows += [f"q{i},{s},{r},{table[r, i] + (s == 'b')}" for s in "ab" for r in range(4)
             for i in range(40)]  # fmt: skip
    joined = join([read_bytes("\n".join(rows).encode(), "runs.csv")])
    assert joined.notes == (
        "The score of an item is the mean of 4 runs; runs are not resampled. Tables have the "
        "standard error of a score from the choice of items (item se) and from that of runs "
        "(run se).",
    )
    assert joined.as_json()["systems"][0]["scores"]["runs"] == pytest.approx(by_item)


def test_one_sentence_tells_of_systems_with_other_numbers_of_runs():
    rows = ["id,system,run,score"]
    rows += [f"q{i},{s},{r},{(i + r) % 2}" for s, m in (("a", 2), ("b", 5)) for r in range(m)
             for i in range(9)]  # fmt: skip
    (told,) = join([read_bytes("\n".join(rows).encode(), "runs.csv")]).notes
    assert told.startswith(
        "The score of an item is the mean of 2 to 5 runs; runs are not resampled"
    )


def test_variances_of_items_and_runs_are_the_mean_squares_of_an_analysis_of_variance():
    rng = np.random.default_rng(8)
    table = rng.random((3, 12)) + rng.random(12) + 0.3 * rng.random((3, 1))
    runs, items = np.indices(table.shape)
    frame = pd.DataFrame({"run": runs.ravel(), "item": items.ravel(), "score": table.ravel()})
    fit = OLS.from_formula("score ~ C(item) + C(run)", frame).fit()
    squares = anova_lm(fit)
    mean_squares = squares["sum_sq"] / squares["df"] / table.size
    found = spread_of(table)
    assert found.items == pytest.approx(mean_squares["C(item)"], rel=1e-9)
    assert found.runs == pytest.approx(mean_squares["C(run)"], rel=1e-9)


def with_runs(tmp_path):
    """A table of three runs of two models, and each model's (3, 20) scores."""
    rng = np.random.default_rng(11)
    tables = {name: rng.random((3, 20)).round(3) for name in ("a", "b")}
    rows = ["id,system,run,score"]
    rows += [
        f"q{i},{name},{r},{table[r, i]}"
        for name, table in tables.items()
        for r in range(3)
        for i in range(20)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(rows))
    return path, tables


def test_reports_have_the_variances_of_items_and_runs(tmp_path, capfdbinary):
    path, tables = with_runs(tmp_path)
    assert main(["compare", str(path), "--format", "json", "--resamples", "99"]) == 0
    report = json.loads(capfdbinary.readouterr().out)
    for system in report["systems"]:
        table = tables[system["name"]]
        expected = {
            "count": 3,
            "item_variance": np.var(table.mean(axis=0), ddof=1) / 20,
            "run_variance": np.var(table.mean(axis=1), ddof=1) / 3,
        }
        (score,) = system["scores"].values()
        assert score["runs"] == pytest.approx(expected, rel=1e-9)
    in_python = sigtest.compare(from_=path, resamples=99)
    assert in_python.as_json()["systems"] == report["systems"]
    for form, words in (("text", b"item se"), ("html", b"run se"), ("latex", b"item se"),
                        ("markdown", b"run se")):  # fmt: skip
        assert main(["compare", str(path), "--format", form, "--resamples", "99"]) == 0
        assert words in capfdbinary.readouterr().out
    choices = ["--format", "csv", "--table", "systems", "--resamples", "99"]
    assert main(["compare", str(path), *choices]) == 0
    header, first, _ = capfdbinary.readouterr().out.decode().splitlines()
    assert header.endswith(",runs,item_variance,run_variance")
    variances = [float(cell) for cell in first.split(",")[-2:]]
    (score,) = report["systems"][0]["scores"].values()
    assert variances == [score["runs"]["item_variance"], score["runs"]["run_variance"]]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"system": "c"}, "runs[0].system"),
        ({"count": 1}, "runs[0].count"),
        ({"item_variance": -1}, "runs[0].item_variance"),
        ({"run_variance": float("nan")}, "runs[0].run_variance"),
        ({"system": 1}, "runs[0].system"),
        ({"count": 2.5}, "runs[0].count"),
        ({"item_variance": True}, "runs[0].item_variance"),
        ({"surplus": 1}, "runs[0].surplus"),
    ],
)
def test_what_a_request_says_of_runs_is_checked(change, field):
    told = {"system": "a", "metric": "acc", "count": 2, "item_variance": 1, "run_variance": 0}
    right = {"a": [1, 0, 1], "b": [0, 0, 1]}
    runs = asked(right, runs=[told]).systems[0].scores["acc"].runs
    assert runs is not None
    assert asdict(runs).items() <= told.items()
    with pytest.raises(sigtest.SigtestError) as raised:
        asked(right, runs=[{**told, **change}])
    assert raised.value.field == field
    with pytest.raises(sigtest.InputError, match="second about 'acc' of 'a'"):
        asked(right, runs=[told, told])


def test_one_model_has_an_interval_too(tmp_path, capfdbinary):
    path = tmp_path / "model.csv"
    path.write_text("id,score\n" + "".join(f"q{i},{int(i % 4 > 0)}\n" for i in range(400)))
    assert main(["compare", str(path), "--format", "json", "--resamples", "9999"]) == 0
    report = json.loads(capfdbinary.readouterr().out)
    (system,) = report["systems"]
    score = system["scores"]["scores"]
    assert (score["score"], report["pairs"]) == (0.75, [])
    assert score["stderr"] == pytest.approx((0.75 * 0.25 / 400) ** 0.5, rel=0.03)
    low, high = proportion_confint(300, 400, 0.05, "wilson")
    assert score["ci"] == pytest.approx([low, high], abs=0.005)
    for form in ("text", "markdown", "html", "latex"):
        assert main(["compare", str(path), "--format", form, "--resamples", "99"]) == 0
        assert b"model" in capfdbinary.readouterr().out


@pytest.mark.parametrize("fields", [{"clusters": ["c"] * 3, "documents": ["d"] * 3}])
def test_clusters_are_documents_by_another_name(fields):
    scores = {"a": [1, 0, 1], "b": [0, 0, 1]}
    with pytest.raises(Exception, match="clusters is another name of documents"):
        asked(scores, **fields)
    assert asked(scores, clusters=["x", "x", "y"], unit="cluster", resamples=99) == asked(
        scores, documents=["x", "x", "y"], unit="document", resamples=99
    )


def test_clusters_in_the_shell(tmp_path, capfdbinary):
    for name, lines in {"a": "1\n0\n1\n", "b": "0\n0\n1\n", "c": "x\nx\ny\n"}.items():
        Path(tmp_path, name).write_text(lines)
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    asked = ["--clusters", str(tmp_path / "c"), "--unit", "cluster", "--format", "json"]
    assert main(["compare", *files, *asked]) == 0
    assert json.loads(capfdbinary.readouterr().out)["testset"]["documents"] == 2


def test_runs_in_files_of_their_own(tmp_path, capfdbinary):
    runs = {"a1": "1 0 1 1", "a2": "1 1 1 0", "b1": "0 0 1 0", "b2": "0 1 1 0"}
    for name, row in runs.items():
        Path(tmp_path, name).write_text(row.replace(" ", "\n") + "\n")
    files = [f"{s}={tmp_path / s}1,{tmp_path / s}2" for s in "ab"]
    asked = [word for given in files for word in ("--replicas", given)]
    assert main(["compare", *asked, "--format", "json"]) == 0
    report = json.loads(capfdbinary.readouterr().out)
    found = {s["name"]: s["scores"]["scores"]["score"] for s in report["systems"]}
    assert found == {"a": 0.75, "b": 0.375}
    # items differ by 1, 0, 0 and 1/2: of the four ways to swap the two, two are as far apart
    assert report["pairs"][0]["p_value"] == 0.5
    assert [s["scores"]["scores"]["runs"]["run_variance"] for s in report["systems"]][1] == 0.125**2
