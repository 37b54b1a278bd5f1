"""Several test sets: against plain loops, one concatenated test set, and themselves."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from computed import read, sample_of
from sentences import sentences
from statsmodels.stats.multitest import multipletests

from sigtest import engine
from sigtest.cli import main
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.draws.sample import Sample, Samples
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import compare
from sigtest.errors import SigtestError
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS
from sigtest.render.records import render_json
from sigtest.report import Report, SystemReport
from sigtest.significance import ALTERNATIVES

NAMES = ("aspen", "birch", "cedar", "dogwood", "elm")
TESTS = ["approximate_randomization", "bootstrap", "paired_bootstrap"]


def content(folder: Path, lines: slice = slice(None), names: tuple[str, ...] = NAMES) -> dict:
    return {
        "references": [read(folder / "reference.en")[lines]],
        "systems": [
            {"name": name, "hypotheses": read(folder / "systems" / f"{name}.en")[lines]}
            for name in names
        ],
    }


def request_of(example: Path, **fields: object) -> dict:
    """Test sets of 50, 88 and 24 segments."""
    names: tuple[str, ...] = fields.pop("names", NAMES)  # type: ignore[assignment]
    return {
        "testsets": [
            {"name": "first", **content(example, slice(0, 50), names)},
            {"name": "second", **content(example, slice(50, 138), names)},
            {"name": "talk", **content(example.parent / "talk", names=names)},
        ],
        "metrics": ["bleu", "ter"],
        "tests": TESTS,
        "resamples": 120,
        "exact": "never",
        **fields,
    }


def alone(suite: Comparison, number: int) -> Comparison:
    """One of the test sets of a comparison, as a comparison of its own."""
    return Comparison((suite.entries[number],), suite.recipe)


def run(example: Path, **fields: object) -> Report:
    return compare(parse_comparison(request_of(example, **fields)))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_macro_counts_equal_textbook_loops(example, alternative):
    """Every pseudo-statistic is the mean of those of the test sets, each with its own stream."""
    names = ("aspen", "birch", "elm")
    suite = parse_comparison(request_of(example, alternative=alternative, names=names))
    overall = compare(suite)
    samples = [sample_of(alone(suite, t)) for t in range(3)]
    turn = -1 if alternative == "less" else 1
    two = alternative == "two-sided"
    expected = {}
    for m, metric in enumerate(suite.plan.whole.recipe.metrics):
        for a, b in suite.plan.whole.pairs.tolist():
            seen, swapped, resampled = 0.0, np.zeros(120), np.zeros(120)
            for t, sample in enumerate(samples):
                x, y = sample.tables[m][a], sample.tables[m][b]

                def difference(x: np.ndarray, y: np.ndarray, metric=metric) -> float:
                    scores = metric.score(x.sum(axis=0)), metric.score(y.sum(axis=0))
                    return metric.sign * float(scores[0] - scores[1])

                seen += difference(x, y) / 3
                for r in range(120):
                    keep = swap_masks(12345, r, r + 1, len(x), stream=t + 1)[0][:, None] == 1
                    swapped[r] += difference(np.where(keep, x, y), np.where(keep, y, x)) / 3
                    drawn = bootstrap_counts(12345, r, r + 1, len(x), stream=t + 1)[0].astype(int)
                    moved = difference(np.repeat(x, drawn, axis=0), np.repeat(y, drawn, axis=0))
                    resampled[r] += moved / 3
            key = suite.plan.whole.recipe.labels[m], names[a], names[b]
            far = (abs(seen) if two else turn * seen) - 1e-7
            shifted = resampled - resampled.mean()
            for test, draws in (("approximate_randomization", swapped), ("bootstrap", shifted)):
                reached = np.abs(draws) if two else turn * draws
                expected[test, *key] = int((reached >= far).sum())
            against = int((resampled <= 1e-7).sum()), int((resampled >= -1e-7).sum())
            expected["paired_bootstrap", *key] = {
                "two-sided": min(against),
                "greater": against[0],
                "less": against[1],
            }[alternative]
    assert {(p.test, p.metric, p.a, p.b): p.count for p in overall.pairs} == expected


def test_macro_scores_are_means(example):
    report = run(example)
    for s, system in enumerate(report.systems):
        for metric, score in system.scores.items():
            own = [
                result.report.systems[s].scores[metric].score for result in report.several.testsets
            ]
            assert score.score == pytest.approx(sum(own) / 3, rel=1e-12)
            assert score.ci[0] < score.score < score.ci[1]


def test_pooled_is_one_concatenated_test_set_stratified_by_test_set(example):
    request = request_of(example, pooled=True, exact="auto")
    parts = request["testsets"]
    whole = parse_comparison(
        {
            "references": [[line for part in parts for line in part["references"][0]]],
            "systems": [
                {
                    "name": name,
                    "hypotheses": [x for p in parts for x in p["systems"][s]["hypotheses"]],
                }
                for s, name in enumerate(NAMES)
            ],
            "labels": [part["name"] for part in parts for _ in part["references"][0]],
            "stratified": True,
            **{k: request[k] for k in ("metrics", "tests", "resamples", "exact")},
        }
    )
    expected = compare(whole)
    found = compare(parse_comparison(request))
    assert [s.scores for s in found.systems] == [s.scores for s in expected.systems]
    family = {"p_adjusted": 0, "significant": False, "undecided": False, "verdict": ""}
    family |= {"resamples_needed": None, "detectable": (0, 0), "interval_agrees": None}
    for pair, same in zip(found.pairs, expected.pairs, strict=True):
        assert replace(pair, **family) == replace(same, **family)


def test_bootstrap_of_the_whole_draws_what_the_parts_draw(example):
    """Strata within test sets, too: every stratum of the suite has one stream."""
    labels = [["x", "y"] * 25, ["y", "z"] * 44, ["x"] * 24]
    request = request_of(example, stratified=True, pooled=True)
    for part, own in zip(request["testsets"], labels, strict=True):
        part["labels"] = own
    suite = parse_comparison(request)
    assert [plan.stream for plan in suite.plan.parts] == [1, 3, 5]
    tables = engine.measure_all(suite, lambda *told: None)
    parts = [Sample(p, own)._counts(0, 9) for p, own in zip(suite.plan.parts, tables, strict=True)]
    whole = Samples(suite.plan, tables).all[-1]._counts(0, 9)
    assert (np.hstack(parts) == whole).all()


def test_test_sets_have_streams_of_their_own(example):
    same = content(example, slice(0, 50))
    request = request_of(example, testsets=[{"name": n, **same} for n in ("one", "two")])
    one, two = (result.report for result in compare(parse_comparison(request)).several.testsets)
    assert one.systems[0].scores["bleu"].score == two.systems[0].scores["bleu"].score
    assert one.systems[0].scores["bleu"].ci != two.systems[0].scores["bleu"].ci
    assert [p.count for p in one.pairs] != [p.count for p in two.pairs]
    assert "|stream:2|" in two.signature


@pytest.mark.parametrize("average", ["macro", "pooled"])
def test_one_family_spans_all_test_sets(example, average):
    report = run(example, pooled=average == "pooled", correction="holm")
    assert report.several.average == average
    assert report.several.comparisons == 4 * 10
    rows = [*(result.report.pairs for result in report.several.testsets), report.pairs]
    for metric in ("bleu", "ter"):
        for test in TESTS:
            family = [p for pairs in rows for p in pairs if (p.metric, p.test) == (metric, test)]
            expected = multipletests([p.p_value for p in family], method="holm")[1]
            assert [p.p_adjusted for p in family] == pytest.approx(expected, rel=1e-12)
    assert all("over 40 comparisons" in p.verdict for pairs in rows for p in pairs if p.significant)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("exact", ["auto", "never"])
def test_identical_systems_have_p_one(example, pooled, exact):
    report = run(example, pooled=pooled, exact=exact, names=("cedar", "dogwood"))
    for pairs in [*(result.report.pairs for result in report.several.testsets), report.pairs]:
        assert {pair.p_value for pair in pairs} == {1.0}
    for row in report.several.wins:
        assert (row.won, row.lost, row.tied, row.sign_test.p_value) == (0, 0, 3, 1.0)


@pytest.mark.parametrize("pooled", [False, True])
def test_replicas_go_through(example, pooled):
    request = request_of(example, pooled=pooled, names=("aspen", "birch", "cedar", "elm"))
    for part in request["testsets"]:
        texts = [system["hypotheses"] for system in part["systems"]]
        part["systems"] = [
            {"name": "A", "replicas": texts[:2]},
            {"name": "B", "replicas": texts[2:]},
        ]
    report = compare(parse_comparison(request))
    score = report.systems[0].scores["bleu"]
    if not pooled:
        own = [
            result.report.systems[0].scores["bleu"].replicas for result in report.several.testsets
        ]
        assert score.replicas == pytest.approx(np.mean(own, axis=0).tolist(), rel=1e-12)
    assert score.training_stderr == pytest.approx(np.std(score.replicas, ddof=1))
    assert re.search(
        rf"\nA .*\] +{score.training_stderr:.2f}\n", FORMATS["text"].render(present(report))
    )


def test_cluster_lines_are_those_of_all_together_and_the_title_says_so(example):
    fields = {"names": NAMES[:3], "metrics": ["chrf"], "tests": TESTS[:1], "resamples": 4999}
    request = request_of(example, **fields)
    parts = [
        {**part, "name": f"{part['name']} {i}"} for part in request["testsets"] for i in "1234"
    ]
    report = compare(parse_comparison({**request, "testsets": parts}))

    def clusters(systems: Sequence[SystemReport]) -> list[int]:
        return [system.ranks["chrf"][TESTS[0]].cluster for system in systems]

    assert clusters(report.several.testsets[0].report.systems) == [1, 1, 2]
    assert clusters(report.systems) == [1, 2, 3]
    title, table = FORMATS["text"].render(present(report)).split("\n\n")[1:3]
    assert title.endswith(f"ranks by {TESTS[0].replace('_', ' ')}, cluster lines for all together")
    assert sum(line.startswith("╌") for line in table.splitlines()) == 2


def test_wins_are_counted_where_less_is_better(example):
    report = run(example, names=("elm", "aspen"))
    for row in report.several.wins:
        assert (row.won, row.lost, row.tied, row.rank_sum) == (0, 3, 0, 0)
        assert (row.differences[0] > 0) == (row.metric == "ter")
        assert row.sign_test.p_value == 0.25
    assert any("neither can find a difference" in warning for warning in sentences(report))


@pytest.mark.parametrize(("sets", "won"), [(5, True), (4, False)])
def test_wins_of_as_many_test_sets_as_alpha_asks_for_are_significant(sets, won):
    """Five of five are 2 patterns in 32, as alpha says."""
    bodies = [
        {
            "name": str(i),
            "systems": [{"name": n, "scores": {"s": [x]}} for n, x in (("X", 2), ("Y", i / 9))],
        }
        for i in range(sets)
    ]
    asked = {"testsets": bodies, "metrics": ["scores"], "resamples": 1, "alpha": 2 / 2**5}
    (row,) = compare(parse_comparison(asked)).several.wins
    assert row.sign_test.significant == row.signed_rank.significant == won


def test_auto_resamples_are_enough_for_the_whole_family(example):
    suite = parse_comparison(
        request_of(example, resamples="auto", correction="bonferroni", alpha=0.01)
    )
    # two-sided paired bootstrap over 40: 80 / (R + 1) <= .0025 needs R = 31,999
    assert {plan.resamples for plan in (*suite.plan.parts, suite.plan.whole)} == {39_999}


def failing(example: Path, **fields: object) -> str:
    with pytest.raises(SigtestError) as caught:
        parse_comparison(request_of(example, **fields))
    return str(caught.value)


def test_bad_suites_are_one_clear_error_each(example):
    first, second = request_of(example)["testsets"][:2]
    fewer = {**second, "systems": second["systems"][:4]}
    two_references = {**second, "references": second["references"] * 2}
    assert failing(example, testsets=[first]) == (
        "testsets needs at least two test sets; 1 given. One is asked for without testsets."
    )
    assert failing(example, testsets=[first, first]) == "Two test sets are named 'first'."
    turned = {**second, "systems": [second["systems"][i] for i in (0, 2, 1, 3, 4)]}
    rule = "; every test set needs the same systems, in the same order."
    alone = "Where they differ, compare on each alone."
    assert failing(example, testsets=[first, fewer]) == (
        f"Test set 'second' lacks elm, which test set 'first' has{rule} {alone}"
    )
    assert failing(example, testsets=[fewer, first]) == (
        f"Test set 'first' has elm, which test set 'second' lacks{rule} {alone}"
    )
    assert failing(example, testsets=[first, turned]) == (
        f"Test set 'second' has cedar where test set 'first' has birch{rule}"
    )
    assert failing(example, testsets=[first, two_references], pooled=True) == (
        "Test set 'second' has 2 reference sets and 'first' has 1; "
        "pooled test sets need equally many."
    )
    assert failing(example, correction="tukey", tests=["approximate_randomization"]) == (
        "correction tukey counts in the draws of one test set; for several take holm or another "
        "one that needs p-values only."
    )
    assert failing(example, unit="document") == (
        "Test set 'first': unit=document needs the document of every segment; give documents."
    )
    assert failing(example, pooled="yes") == "pooled must be true or false, not 'yes'."
    with pytest.raises(SigtestError) as alone:
        parse_comparison({k: v for k, v in first.items() if k != "name"} | {"pooled": True})
    assert "Unknown field 'pooled'" in str(alone.value)
    assert "pooled goes with testsets, which brings several." in str(alone.value)
    assert failing(example, testsets=[first, {"references": []}]) == (
        "testsets[1].systems is missing; it must be a list of systems."
    )
    assert failing(example, testsets=[first, "x"]) == "testsets[1] must be an object, not 'x'."
    replicated = {
        **second,
        "systems": [
            {"name": s["name"], "replicas": [s["hypotheses"]] * 2} for s in second["systems"]
        ],
    }
    assert failing(example, testsets=[first, replicated]) == (
        "Systems have 2 replicas on test set 'second' and 1 on 'first'; "
        "every test set needs equally many."
    )


def test_command_line_reads_replicas_from_folders(tmp_path):
    for name in ("x", "y"):
        for system in ("a", "b"):
            folder = tmp_path / name / "systems" / system
            folder.mkdir(parents=True)
            for replica in ("1.txt", "2.txt"):
                (folder / replica).write_text(f"one {system}\ntwo {replica}\nthree\n")
        (tmp_path / name / "reference.txt").write_text("one a\ntwo\nthree\n")
    output = tmp_path / "report.json"
    folders = [str(tmp_path / "x"), str(tmp_path / "y")]
    assert main(["suite", *folders, "--format", "json", "--output", str(output)]) == 0
    score = json.loads(output.read_bytes())["overall"]["systems"][0]["scores"]["bleu"]
    assert len(score["replicas"]) == 2


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: (folder / "reference.en").unlink(), "no reference* beside systems"),
        (lambda folder: (folder / "labels.txt").write_text("x\n"), "/labels.txt has 1 line, but "),
        (lambda folder: (folder / "systems" / "a.en").unlink(), "at least two systems; 1 given"),
        (
            lambda folder: (folder / "documents.a").write_text("x\n" * 2),
            "documents.a and documents.txt; one is enough",
        ),
    ],
)
def test_bad_folders_are_one_clear_message(tmp_path, prepare, message, capsys):
    (tmp_path / "systems").mkdir()
    for name in ("reference.en", "documents.txt", "systems/a.en", "systems/b.en"):
        (tmp_path / name).write_text("x\ny\n")
    prepare(tmp_path)
    assert main(["suite", str(tmp_path), f"other={tmp_path}"]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_replicas_that_cannot_be_compared_are_refused_in_the_shell(example, monkeypatch, capsys):
    monkeypatch.chdir(example)
    plain = ["systems/cedar.en", "--replicas", "good=systems/aspen.en,systems/birch.en"]
    assert main(["compare", "-r", "reference.en", *plain]) == 2
    assert "'cedar' brings no replicas and system 'good' 2 replicas" in capsys.readouterr().err
    assert main(["compare", "-r", "reference.en", "--replicas", "good=a.en,"]) == 2
    assert "--replicas takes NAME=FILE,FILE,..., not" in capsys.readouterr().err


def test_every_field_of_the_report_is_described(example):
    text = (example.parents[1] / "docs" / "SERVICE.md").read_text(encoding="utf-8")
    body = run(example, metrics=["ter"], tests=["bootstrap"]).as_json()
    fields = [*body, *body["testsets"][0], *body["overall"], *body["wins"][0]]
    for field in [*fields, *body["wins"][0]["sign_test"]]:
        assert re.search(rf"[`.]{field}[`.\[]", text), field


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("pooled", [False, True])
def test_blocks_of_any_cut_and_order_give_the_same_bytes(example, pooled, alternative):
    request = request_of(example, pooled=pooled, alternative=alternative)
    suite = parse_comparison(request | {"metrics": ["bleu", "nist"]})
    plan = Plan.of(suite.plan.as_json())
    tables = engine.measure_all(suite, lambda *told: None)
    runs = [(119, 120), (17, 18), (18, 96), (0, 17), (96, 119)]
    blocks = [Samples(plan, tables).block(*run) for run in runs]
    cut = engine.reduce(Samples(plan, tables), blocks)
    assert render_json(cut) == render_json(engine.compare(suite))


@pytest.mark.parametrize("pooled", [False, True])
def test_reports_come_back_from_json(example, pooled):
    report = engine.compare(parse_comparison(request_of(example, pooled=pooled)))
    assert Report.from_json(report.as_json()) == report
