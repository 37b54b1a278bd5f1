"""Directories of mt-metrics-eval: the traps, and WMT23 he-en against scipy and loops."""

import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sentences import sentences

from sigtest.errors import InputError, RecipeError
from sigtest.files.folders import EvalSet
from sigtest.files.judgements import read_scores, reads_scores
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import parse
from sigtest.meta_evaluation.report import MetaReport

NAMES = ("Aspen", "Birch", "Cedar", "refA", "refB")


def write(path: Path, rows: list[tuple[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name}\t{score}\n" for name, score in rows))


@pytest.fixture
def evalset(tmp_path: Path) -> Path:
    """Five rows a file, refB the reference of most metrics, refA a human translation."""
    folder = tmp_path / "set"
    scores = dict(zip(NAMES, (0.1, 0.4, 0.3, 0.9, 0.8), strict=True))
    judged = [(name, score) for name, score in scores.items() if name != "refB"]
    write(folder / "human-scores" / "xx-yy.mqm.sys.score", judged)
    segments = [(name, "None" if i == 1 else f"-{i}.0") for name, _ in judged for i in range(3)]
    write(folder / "human-scores" / "xx-yy.mqm.seg.score", segments)
    for label, missing in (("BLEU-refA", "refA"), ("BLEU-refB", "refB"), ("chrF-refB", "refB"),
                           ("QE-src", "")):  # fmt: skip
        rows = [(name, score) for name, score in reversed(scores.items()) if name != missing]
        write(folder / "metric-scores" / "xx-yy" / f"{label}.sys.score", rows)
        write(
            folder / "metric-scores" / "xx-yy" / f"{label}.seg.score",
            [(name, score + i) for name, score in rows for i in range(3)],
        )
    for name in ("refA", "refB"):
        (folder / "references").mkdir(exist_ok=True)
        (folder / "references" / f"xx-yy.{name}.txt").write_text("a\nb\nc\n")
    return folder


def test_the_reference_of_most_metrics_is_left_out_for_all(evalset):
    body = EvalSet.of_folder(evalset).request("xx-yy", "mqm")
    assert body["exclude_systems"] == ["refB"]
    assert list(body["metrics"]) == ["BLEU-refA", "BLEU-refB", "QE-src", "chrF-refB"]
    assert body["baseline"] == "BLEU-refB"
    found = parse(body).sets[0]
    assert found.systems == ("Aspen", "Birch", "Cedar", "refA")
    with_refa, without = found.metrics[1], found.metrics[0]
    assert with_refa.system.tolist() == [0.1, 0.4, 0.3, 0.9]  # whatever the order of a file
    assert np.isnan(without.system).tolist() == [False, False, False, True]
    assert np.isnan(found.human_segment).tolist() == [[False, True, False]] * 4


def test_metrics_can_be_chosen(evalset):
    body = EvalSet.of_folder(evalset).request("xx-yy", "mqm", ["QE-src"])
    assert list(body["metrics"]) == ["QE-src"]
    assert body["exclude_systems"] == ["refB"]  # of all files, not of the chosen ones
    with pytest.raises(RecipeError, match="Did you mean 'chrF-refB'"):
        EvalSet.of_folder(evalset).request("xx-yy", "mqm", ["chrF-refb"])


def test_several_pairs_of_languages_have_the_same_labels(evalset):
    for path in list(evalset.rglob("*xx-yy*")):
        if path.is_file():
            twin = path.with_name(path.name.replace("xx-yy", "xx-zz"))
            twin.write_bytes(path.read_bytes())
    shutil.copytree(evalset / "metric-scores" / "xx-yy", evalset / "metric-scores" / "xx-zz")
    for level in ("sys", "seg"):  # refA is the reference of most metrics there
        folder = evalset / "metric-scores" / "xx-zz"
        (folder / f"BLEU-refB.{level}.score").unlink()
        (folder / f"chrF-refB.{level}.score").rename(folder / f"chrF-refA.{level}.score")
    body = EvalSet.of_folder(evalset).requests(["xx-yy", "xx-zz"], "mqm")
    assert {lp: own["exclude_systems"] for lp, own in body["sets"].items()} == {
        "xx-yy": ["refB"],
        "xx-zz": ["refA"],
    }
    assert all(set(own["metrics"]) == {"BLEU", "QE", "chrF"} for own in body["sets"].values())
    asked = parse(body)
    assert asked.choices.baseline == "BLEU"
    assert [own.excluded for own in asked.sets] == [("refB",), ("refA",)]
    with pytest.raises(RecipeError, match="Unknown metric 'TER'"):
        EvalSet.of_folder(evalset).requests(["xx-yy"], "mqm", ["TER"])


@pytest.mark.parametrize(
    ("lp", "gold", "said"),
    [("xx-zz", "mqm", "Did you mean 'xx-yy'"), ("xx-yy", "esa", "choose one of mqm")],
)
def test_unknown_names_are_refused(evalset, lp, gold, said):
    with pytest.raises(RecipeError, match=said):
        EvalSet.of_folder(evalset).request(lp, gold)


@pytest.mark.parametrize("line", ["Aspen", "Aspen\t0.3\tx", "Aspen\thigh"])
def test_a_malformed_line_is_named(evalset, line):
    path = evalset / "metric-scores" / "xx-yy" / "QE-src.seg.score"
    path.write_text(f"Aspen\t1.0\n{line}\nAspen\t2.0\n")
    with pytest.raises(InputError, match=r"QE-src\.seg\.score, line 2") as caught:
        EvalSet.of_folder(evalset).request("xx-yy", "mqm")
    assert caught.value.line == 2


def test_a_folder_that_is_no_evalset_is_refused(tmp_path):
    with pytest.raises(InputError, match="an EvalSet holds human-scores"):
        EvalSet.of_folder(tmp_path).request("xx-yy", "mqm")


def test_two_scores_of_a_system_are_refused(evalset):
    path = evalset / "metric-scores" / "xx-yy" / "QE-src.sys.score"
    path.write_text(path.read_text() + "Aspen\t0.5\n")
    with pytest.raises(InputError, match="system 'Aspen' has 2 scores"):
        EvalSet.of_folder(evalset).request("xx-yy", "mqm")


def test_tables_are_recognised_by_their_columns():
    two = read_scores(b"A 1.5\nB None\n", "x")
    assert two == {"system": {"A": 1.5, "B": None}}
    assert read_scores(b"A\t1\nA\t2\nB\t3\nB\tNone\n", "x") == {
        "segment": {"A": [1.0, 2.0], "B": [3.0, None]}
    }
    titled = b"METRIC\tLP\tSYSTEM\tSCORE\nBLEU\tde-en\tA\t1\nBLEU\tde-en\tB\t2\nTER\tfr-en\tA\t3\n"
    one = titled.rpartition(b"TER")[0]
    assert read_scores(one, "x") == {"system": {"A": 1.0, "B": 2.0}}
    with pytest.raises(InputError, match="more than one pair of languages, de-en, fr-en; leave"):
        read_scores(titled, "x")
    named = b"SYS SID SCORE\nA s1 1\nA s2 2\nB s1 3\n"
    assert read_scores(named, "x") == {"segment": {"A": {"s1": 1.0, "s2": 2.0}, "B": {"s1": 3.0}}}
    with pytest.raises(InputError, match="line 4: system 'A' has segment 's1' twice"):
        read_scores(b"SYS SID SCORE\nA s1 1\nA s2 2\nA s1 3\n", "x")
    listed = {"system": {"A": 1.0, "B": 2.5}}
    assert read_scores(b"system,score\nA,1\nB, 2.5\n", "x") == listed
    assert reads_scores(b"System, Score\nA,1\n", "x")
    assert reads_scores(b"A,1\n", "x")
    with pytest.raises(InputError, match="line 1: '1,5' is not a number; write the decimal mark"):
        read_scores(b"A 1,5\nB 2,5\n", "x")  # no decimal comma is taken for a column
    assert read_scores(b'{"system": {"A": 1}}', "x") == {"system": {"A": 1}}


# WMT23 Hebrew to English, read here by other code.


def rows(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in path.read_text().splitlines():
        name, score = line.split("\t")
        found.setdefault(name, []).append(float("nan" if score == "None" else score))
    return found


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest) -> Path:
    data: Path = request.getfixturevalue("data")
    return data / "wmt23.he-en"


@pytest.fixture(scope="module")
def report(folder: Path) -> MetaReport:
    chosen = ["BLEU-refA", "BLEU-refB", "COMET-refB", "GEMBA-MQM-src", "Random-sysname-src"]
    body = EvalSet.of_folder(folder).request("he-en", "mqm", chosen)
    return compute(parse({**body, "resamples": 1_999}))


def systems_of(folder: Path, label: str) -> tuple[list[float], list[float]]:
    human = rows(folder / "human-scores" / "he-en.mqm.sys.score")
    metric = rows(folder / "metric-scores" / "he-en" / f"{label}.sys.score")
    shared = [name for name in human if name in metric and name != "refB"]
    return [human[name][0] for name in shared], [metric[name][0] for name in shared]


def test_he_en_system_level_equals_scipy(folder, report):
    sizes = []
    for metric in report.metrics:
        human, scores = systems_of(folder, metric.label)
        sizes.append(len(human))
        assert metric.pearson.n == len(human)
        assert metric.pearson.value == pytest.approx(stats.pearsonr(scores, human)[0], rel=1e-12)
        assert metric.spearman.value == pytest.approx(stats.spearmanr(scores, human)[0], rel=1e-12)
        assert metric.kendall.value == pytest.approx(stats.kendalltau(scores, human)[0], rel=1e-12)
        alike = [
            np.sign(human[a] - human[b]) == np.sign(scores[a] - scores[b])
            for a, b in combinations(range(len(human)), 2)
        ]
        assert metric.accuracy.value == pytest.approx(np.mean(alike), rel=1e-12)
    assert sizes == [12, 13, 13, 13, 13]  # refA is a system; refB the standard reference
    assert any("BLEU-refA, BLEU-refB" in said for said in sentences(report))  # corpus BLEU


def test_he_en_williams_is_the_formula_over_scipy(folder, report):
    pair = next(p for p in report.pairs if (p.a, p.b, p.test) ==
                ("BLEU-refB", "COMET-refB", "williams"))  # fmt: skip
    human, bleu = systems_of(folder, "BLEU-refB")
    _, comet = systems_of(folder, "COMET-refB")
    r12, r13, r23 = (stats.pearsonr(x, y)[0] for x, y in
                     ((bleu, comet), (bleu, human), (comet, human)))  # fmt: skip
    n = 13
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    t = (r13 - r23) * np.sqrt((n - 1) * (1 + r12))
    t /= np.sqrt(2 * k * (n - 1) / (n - 3) + ((r23 + r13) ** 2 / 4) * (1 - r12) ** 3)
    assert pair.t == pytest.approx(t, rel=1e-9)
    assert pair.p_value == pytest.approx(stats.t.sf(t, n - 3), rel=1e-9)
    assert pair.p_value > 0.5  # BLEU, named first, is not the better one


def test_he_en_segment_level_equals_scipy_and_a_sweep(folder):
    body = EvalSet.of_folder(folder).request("he-en", "mqm", ["COMET-refB"])
    report = compute(parse({**body, "level": "segment", "resamples": 99}))
    human = rows(folder / "human-scores" / "he-en.mqm.seg.score")
    metric = rows(folder / "metric-scores" / "he-en" / "COMET-refB.seg.score")
    names = [name for name in human if name in metric and name != "refB"]
    # -6.2 stands there as -6.199999999999999, too
    h = np.array([human[name] for name in names]).round(9)
    m = np.array([metric[name] for name in names])
    judged = ~np.isnan(h[0])
    assert judged.sum() == 820
    h, m = h[:, judged], m[:, judged]
    (own,) = report.metrics
    assert own.pearson.n == 13 * 820
    assert own.pearson.value == pytest.approx(stats.pearsonr(m.ravel(), h.ravel())[0], rel=1e-11)
    assert own.kendall.value == pytest.approx(stats.kendalltau(m.ravel(), h.ravel())[0], rel=1e-11)
    a, b = np.triu_indices(13, 1)
    gold, gaps = np.sign(h[a] - h[b]), m[a] - m[b]
    assert own.accuracy.value == pytest.approx(np.mean(np.sign(gaps) == gold), rel=1e-12)
    tried = np.append(0, np.quantile(np.abs(gaps), np.linspace(0, 1, 300), method="nearest"))
    reached = [
        np.mean(np.where(np.abs(gaps) <= e, gold == 0, np.sign(gaps) == gold)) for e in tried
    ]
    best = np.where(np.abs(gaps) <= own.accuracy_ties.epsilon, gold == 0, np.sign(gaps) == gold)
    assert own.accuracy_ties.value == pytest.approx(best.mean(), rel=1e-12)
    assert max(reached) <= own.accuracy_ties.value <= max(reached) + 0.002
