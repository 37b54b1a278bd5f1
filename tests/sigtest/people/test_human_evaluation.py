"""Quality control, standardisation, means, conclusions: small judgements worked out by hand."""

import json
import math
import statistics
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sentences import sentences
from statsmodels.stats.multitest import multipletests

from sigtest.errors import InputError, RecipeError
from sigtest.kinds import KINDS
from sigtest.people.compute import compute
from sigtest.people.decisions import combine, concluded, decide, ranks
from sigtest.people.kind import KIND
from sigtest.people.question import parse
from sigtest.people.report import JudgedPair
from sigtest.render.formats import FORMATS, Layout


def row(annotator, system, segment, score, kind="SYSTEM", **more):
    return {"annotator": annotator, "system": system, "segment": segment, "kind": kind,
            "score": score, **more}  # fmt: skip


def evaluated(rows, **choices):
    return compute(parse({"judgements": rows, **choices}))


def system(report, name):
    return next(own for own in report.systems if own.name == name)


def pair(report, a, b, criterion=None):
    rows = [p for p in report.pairs if (p.a, p.b) == (a, b)]
    return next(p for p in rows if criterion in {None, p.criterion})


def test_z_divides_by_the_sample_standard_deviation(oracles):
    fixture = json.loads((oracles / "human.json").read_text())["z_standardisation"]
    fixture = fixture["small_fixture"]
    rows = [row("w", "AB"[i % 2], i, score) for i, score in enumerate(fixture["scores"])]
    prepared = parse({"judgements": rows}).prepared
    assert prepared.judgements.z == pytest.approx(fixture["z_ddof1"], rel=1e-12)


def test_annotators_are_standardised_alone_and_by_criterion():
    rows = [row(w, s, i, base + 10 * i + 3 * (s == "A"), criterion=c)
            for w, base in (("v", 0), ("w", 40)) for s in "AB" for i in range(4)
            for c in ("adequacy", "fluency")]  # fmt: skip
    for entry in rows:
        if entry["annotator"] == "w" and entry["criterion"] == "fluency":
            entry["score"] /= 2
    judgements = parse({"judgements": rows}).prepared.judgements
    for own in ("v", "w"):
        for criterion in ("adequacy", "fluency"):
            mine = [i for i in range(len(judgements)) if judgements.annotator.at(i) == own
                    and judgements.criterion.at(i) == criterion]  # fmt: skip
            raw = [judgements.raw[i] for i in mine]
            mean, sd = statistics.mean(raw), statistics.stdev(raw)
            assert judgements.z[mine] == pytest.approx([(x - mean) / sd for x in raw])


def test_means_without_references_leave_out_both_kinds():
    rows = [row("w", "A", 1, 50), row("w", "B", 1, 70), row("w", "A", 2, 90),
            row("w", "A", 1, 0, "BAD_REF"), row("w", "B", 1, 100, "REF")]  # fmt: skip
    whole = parse({"judgements": rows}).prepared.judgements.z
    part = parse({"judgements": rows, "standardise": "annotator_no_refs"}).prepared.judgements.z
    scores = [50, 70, 90, 0, 100]
    assert whole == pytest.approx([(x - 62) / statistics.stdev(scores) for x in scores])
    assert part == pytest.approx([(x - 70) / 20 for x in scores])


def test_annotators_without_variance_are_dropped_and_counted():
    rows = [row("w", s, i, 10 * i + 5 * (s == "A")) for s in "AB" for i in range(5)]
    rows += [row("same", s, i, 70) for s in "AB" for i in range(5)]
    rows += [row("once", "A", 9, 12)]
    report = evaluated(rows)
    assert report.sources[0].dropped == {"annotator without variance": 11}
    assert report.sources[0].used == 10
    assert system(report, "A").n_judgements == 5
    assert evaluated(rows, standardise="none").sources[0].used == 21


def test_segments_are_averaged_before_systems():
    """Three judgements of segment 1 count as much as one of segment 2."""
    rows = [row("u", "A", 1, 10), row("v", "A", 1, 20), row("u", "A", 1, 60, "REPEAT"),
            row("u", "A", 2, 90), row("u", "B", 1, 50), row("v", "B", 3, 70),
            row("u", "A", 1, 0, "BAD_REF"), row("u", "A", 2, 100, "REF"),
            row("u", "A", 2, 0, "DUPLICATE")]  # fmt: skip
    report = evaluated(rows, standardise="none")
    own = system(report, "A")
    assert own.raw == 60.0  # of 30 and 90
    assert own.z is None
    assert (own.n_judgements, own.n_segments) == (4, 2)
    assert own.sd == pytest.approx(statistics.stdev([30, 90]))
    assert report.tested == "raw"


def test_intervals_of_means_are_students():
    scores = [12, 30, 41, 55, 90]
    rows = [row("w", s, i, x) for s in "AB" for i, x in enumerate(scores)]
    report = evaluated(rows, standardise="none", alpha=0.1)
    expected = stats.t.interval(0.9, 4, np.mean(scores), stats.sem(scores))
    assert system(report, "A").ci == pytest.approx(expected, rel=1e-12)


def test_boxes_are_tukeys():
    scores = [0, 40, 45, 50, 55, 60, 100]
    rows = [row("w", s, i, x) for s in "AB" for i, x in enumerate(scores)]
    box = system(evaluated(rows, standardise="none"), "A").criteria["score"].box
    assert box == (40.0, 42.5, 50.0, 57.5, 60.0)


def test_documents_as_units_average_their_segments():
    rows = [row("w", s, i, 10 * i + 7 * (s == "A"), document=f"d{i // 2}")
            for s in "AB" for i in range(6)]  # fmt: skip
    rows += [row("w", s, i, 0, document="d0") for s in "AB" for i in (6, 7)]
    by_segment = evaluated(rows, standardise="none")
    report = evaluated(rows, standardise="none", aggregate="document")
    found = pair(report, "A", "B")
    assert (found.n_a, found.n_b) == (3, 3)
    x = np.array([(7 + 17) / 4, 25 + 7, 45 + 7])
    assert found.u == stats.mannwhitneyu(x, [10 / 4, 25, 45], method="asymptotic").statistic
    own = system(report, "A")
    assert own.raw == pytest.approx(x.mean())
    assert own.sd == pytest.approx(x.std(ddof=1))
    assert own.ci == pytest.approx(stats.t.interval(0.95, 2, x.mean(), stats.sem(x)))
    assert found.difference == pytest.approx(own.raw - system(report, "B").raw)
    assert (own.n_segments, own.n_judgements) == (8, 8)
    assert any("document" in said for said in sentences(by_segment))
    assert not any("document" in said for said in sentences(report))


def careful_and_careless():
    rng = np.random.default_rng(1)
    rows = []
    for w in ("careful", "careless", "short"):
        for i in range(8 if w != "short" else 2):
            score = int(rng.integers(50, 90))
            rows.append(row(w, "AB"[i % 2], i, score, hit="h"))
            drop = 30 if w != "careless" else 0
            rows.append(row(w, "AB"[i % 2], i, score - drop - int(rng.integers(5)), "BAD_REF",
                            hit="h"))  # fmt: skip
            rows.append(row(w, "AB"[i % 2], i, score + i % 3 - 1, "REPEAT", hit="h"))
    rows[1]["score"] += 4
    for entry in rows:
        if entry["annotator"] == "careless" and entry["kind"] == "BAD_REF":
            entry["score"] += 5
    return rows


def test_careless_annotators_are_found_but_stay_unless_asked():
    rows = careful_and_careless()
    report = evaluated(rows)
    annotators = report.annotators
    assert (annotators.n, annotators.kept, annotators.careless) == (3, 3, 1)
    assert annotators.untestable == 1
    assert not annotators.filtered
    assert [own.verdict for own in annotators.each] == ["kept", "careless", "untestable"]
    assert report.sources[0].used == len(rows)
    assert any("1 of 3 annotators" in said for said in sentences(report))


def test_quality_control_leaves_out_careless_and_untestable_annotators():
    rows = careful_and_careless()
    report = evaluated(rows, quality={})
    assert (report.annotators.kept, report.annotators.filtered) == (1, True)
    assert report.sources[0].dropped == {"careless annotator": 24, "untestable annotator": 6}
    assert report.sources[0].used == 24
    assert report.annotators.judgements_kept == 24
    staying = evaluated(rows, quality={"untestable": "keep"})
    assert (staying.annotators.kept, staying.sources[0].used) == (2, 30)


@pytest.mark.parametrize("test", ["paired_t", "signed_rank", "welch", "mann_whitney"])
def test_p_values_of_an_annotator_equal_scipy(test):
    rows = careful_and_careless()
    mine = [entry for entry in rows if entry["annotator"] == "careful"]
    first = np.array([e["score"] for e in mine if e["kind"] == "SYSTEM"], float)
    bad = np.array([e["score"] for e in mine if e["kind"] == "BAD_REF"], float)
    again = np.array([e["score"] for e in mine if e["kind"] == "REPEAT"], float)
    apart, lost = np.abs(again - first), first - bad
    expected = {
        "paired_t": stats.ttest_rel(bad, first, alternative="less").pvalue,
        "welch": stats.ttest_ind(apart, lost, equal_var=False, alternative="less").pvalue,
        "mann_whitney": stats.mannwhitneyu(
            apart, lost, alternative="less", method="asymptotic"
        ).pvalue,
        "signed_rank": 1 / 2**8,  # all eight differences are negative
    }
    report = evaluated(rows, quality={"test": test})
    own = report.annotators.each[0]
    assert getattr(own, test) == pytest.approx(expected[test], rel=1e-9)
    assert own.repeats_t == pytest.approx(stats.ttest_rel(again, first).pvalue, rel=1e-9)
    assert (own.bad_references, own.repeats) == (8, 8)
    assert report.annotators.test == test


def test_a_score_at_the_end_of_a_category_is_in_the_next_one():
    # the five of 0 to 6 end at 1.2, 2.4 ...; as doubles 1.2 / 6 * 5 is below 1
    rows = [row(w, s, 1, score) for w, score in (("v", 1.2), ("w", 1.3)) for s in "AB"]
    (own,) = evaluated(rows, scale=[0, 6], standardise="none").agreement
    assert (own.bins, own.categories, own.pairs, own.agreed) == ("intervals", 5, 2, 2)


def test_stars_from_1_to_5_do_not_agree_for_lying_in_one_fifth_of_0_to_100():
    stars = {"v": [1, 2, 3, 4, 5, 5, 4, 3, 2, 1], "w": [1, 3, 5, 4, 2, 5, 2, 3, 1, 4]}  # 4 equal
    rows = [row(w, s, i, score) for w, own in stars.items() for i, score in enumerate(own)
            for s in "AB"]  # fmt: skip
    (own,) = evaluated(rows, standardise="none").agreement
    assert (own.bins, own.pairs, own.agreed) == ("percentiles", 20, 8)
    assert own.uniform_chance.value == pytest.approx((8 / 20 - 1 / 5) / (1 - 1 / 5))
    (own,) = evaluated(rows, standardise="none", scale=[0, 100]).agreement  # as was asked
    assert (own.bins, own.agreed) == ("intervals", 20)
    far = [{**r, "score": 10 * r["score"] + 1} for r in rows]  # to 51, in the upper half
    assert evaluated(far, standardise="none").agreement[0].bins == "intervals"


@pytest.mark.parametrize("lowest", [0, 60])
def test_differences_that_tie_in_decimals_are_tied_in_quality_control(lowest):
    first, bad, again = np.random.default_rng(3).integers(0, 10, (3, 12))
    rows = [
        row("w", "AB"[i % 2], i, lowest + score / 10, kind, hit="h")
        for kind, scores in (("SYSTEM", first), ("BAD_REF", bad), ("REPEAT", again))
        for i, score in enumerate(scores.tolist())
    ]
    (own,) = evaluated(rows).annotators.each
    expected = stats.mannwhitneyu(  # of whole numbers, which nothing rounds
        np.abs(again - first), first - bad, alternative="less", method="asymptotic"
    )
    assert own.mann_whitney == pytest.approx(expected.pvalue, rel=1e-9)


def judged_thrice(seed: int) -> list[dict[str, object]]:
    """Three annotators score two systems on twelve segments of four documents, many ties."""
    scores = iter(np.random.default_rng(seed).choice([70.0, 75.0, 80.0, 85.0, 90.0], 72).tolist())
    return [row(w, s, i, next(scores), document=str(i // 3))
            for w in "uvw" for i in range(12) for s in "AB"]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_means_of_documents_tie_where_their_sums_do(seed):
    rows = judged_thrice(seed)
    sums = [[sum(r["score"] for r in rows if (r["system"], r["document"]) == (s, d))
             for d in "0123"] for s in "AB"]  # fmt: skip
    expected = stats.mannwhitneyu(*sums, alternative="greater", method="asymptotic")
    (found,) = evaluated(rows, standardise="none", aggregate="document").pairs
    assert (found.u, found.p_greater) == (expected.statistic, pytest.approx(expected.pvalue))


@pytest.mark.parametrize(("aggregate", "seed"), [("segment", 10), ("segment", 16), ("document", 9)])
def test_no_order_of_rows_breaks_ties_of_standardised_scores(aggregate, seed):
    first, *others = judged_thrice(seed)
    found = set()
    for order in range(10):
        np.random.default_rng(order).shuffle(others)
        (compared,) = evaluated([first, *others], aggregate=aggregate).pairs
        found.add(compared.u)
    assert len(found) == 1


def test_threshold_and_least_number_of_pairs_decide():
    rows = careful_and_careless()
    strict = evaluated(rows, quality={"threshold": 1e-12, "untestable": "keep"}, standardise="none")
    assert (strict.annotators.careless, strict.annotators.untestable) == (2, 1)
    many = evaluated(rows, quality={"min_pairs": 9, "untestable": "keep"})
    assert many.annotators.untestable == 3


def test_degraded_copies_meet_their_output_in_the_same_batch_only():
    rows = [row("w", s, i, 60 + i, hit="one") for s in "AB" for i in range(4)]
    rows += [row("w", "A", i, 20, "BAD_REF", hit="two") for i in range(4)]
    assert evaluated(rows).annotators.each[0].bad_references == 0
    for entry in rows:
        entry["hit"] = "one"
    assert evaluated(rows).annotators.each[0].bad_references == 4


def test_scores_of_nobody_cannot_be_standardised():
    rows = [row("w" if i < 4 else None, s, i, 50 + i + 9 * (s == "A")) for s in "AB"
            for i in range(6)]  # fmt: skip
    with pytest.raises(InputError) as error:
        evaluated(rows)
    assert "4 of 12 judgements do not say who judged" in error.value.message
    assert "system 'A', segment '4'" in error.value.message
    assert system(evaluated(rows, standardise="none"), "A").raw == 61.5


def test_no_annotator_left_is_an_error_that_says_so():
    rows = [row("w", s, i, 50 + i + 9 * (s == "A")) for s in "AB" for i in range(4)]
    with pytest.raises(InputError, match="No judgement of score is left of A, B"):
        parse({"judgements": rows, "quality": {}})


def test_pseudonyms_stay_out_unless_asked_for():
    rows = careful_and_careless()
    assert [own.name for own in evaluated(rows).annotators.each] == [None] * 3
    named = evaluated(rows, show_annotators=True).annotators.each
    assert [own.name for own in named] == ["careful", "careless", "short"]


def test_effort_is_seconds_where_they_are_known():
    rows = [row(w, s, i, 50 + i * 7 + (s == "A"), seconds=t) for w, t in (("v", 10), ("w", None))
            for s in "AB" for i in range(3)]  # fmt: skip
    annotators = evaluated(rows).annotators
    assert [own.seconds for own in annotators.each] == [10.0, None]
    assert (annotators.seconds, annotators.seconds_per_judgement) == (60.0, 10.0)


def two_criteria(adequacy, fluency):
    """Scores of systems by criterion, one segment each, one annotator."""
    return [row("w", s, i, x, criterion=c)
            for c, table in (("fluency", fluency), ("adequacy", adequacy))
            for s, scores in table.items() for i, x in enumerate(scores)]  # fmt: skip


def test_fluency_decides_where_adequacy_does_not():
    low, high = list(range(10, 40)), list(range(50, 80))
    report = evaluated(two_criteria(
        {"A": high, "B": high, "C": low}, {"A": low, "B": high, "C": high}
    ), standardise="none")  # fmt: skip
    assert report.criteria == ("adequacy", "fluency")
    found = {(p.a, p.b): p for p in report.pairs if p.criterion == "combined"}
    assert found["A", "B"].conclusion == "b"
    assert found["A", "B"].decided_by == "fluency"
    assert found["A", "C"].conclusion == "a"
    assert found["A", "C"].decided_by == "adequacy"
    fluency = pair(report, "A", "B", "fluency")
    assert found["A", "B"].p_less == fluency.p_less
    assert found["B", "C"].p_greater == pair(report, "B", "C", "adequacy").p_greater
    assert [system(report, s).cluster for s in "ABC"] == [2, 1, 3]
    tied = evaluated(two_criteria({"A": low, "B": low}, {"A": high, "B": [*high[1:], 10]}),
                     standardise="none").pairs[-1]  # fmt: skip
    assert (tied.conclusion, tied.decided_by) == ("tie", "fluency")
    assert [system(report, s).criteria["adequacy"].cluster for s in "ABC"] == [1, 1, 2]


def test_pooled_scores_average_over_criteria():
    report = evaluated(
        two_criteria({"A": [10, 30], "B": [5, 6]}, {"A": [50, 70], "B": [7, 8]}), standardise="none"
    )
    assert system(report, "A").raw == 40.0
    assert system(report, "A").criteria["adequacy"].raw == 20.0
    assert system(report, "A").n_judgements == 4


def test_a_criterion_can_be_chosen():
    rows = two_criteria({"A": [10, 30, 20], "B": [5, 6, 7]}, {"A": [50, 70, 60], "B": [7, 8, 9]})
    report = evaluated(rows, criteria=["fluency"], standardise="none")
    assert report.criteria == ("fluency",)
    assert {p.criterion for p in report.pairs} == {"fluency"}
    assert report.sources[0].dropped == {"other criterion": 6}


def test_corrections_count_every_ordered_pair():
    rng = np.random.default_rng(3)
    rows = [row("w", s, i, round(50 + 4 * k + 15 * rng.normal())) for k, s in enumerate("ABCD")
            for i in range(40)]  # fmt: skip
    for entry in rows:
        entry["score"] = min(100, max(0, entry["score"]))
    plain = evaluated(rows, standardise="none")
    bonferroni = evaluated(rows, standardise="none", correction="bonferroni")
    for own, other in zip(plain.pairs, bonferroni.pairs, strict=True):
        smaller = min(own.p_greater, own.p_less)
        assert own.p_adjusted == smaller
        assert (other.p_greater, other.p_less) == (own.p_greater, own.p_less)
        assert other.p_adjusted == pytest.approx(min(1, 12 * smaller))
    holm = evaluated(rows, standardise="none", correction="holm")
    p = sorted(q for own in plain.pairs for q in (own.p_greater, own.p_less))
    first = min(holm.pairs, key=lambda own: own.p_adjusted)
    assert first.p_adjusted == pytest.approx(12 * p[0])


def test_conclusions_and_clusters_follow_the_decisions():
    rng = np.random.default_rng(9)
    rows = [row("w", s, i, float(50 + 6 * k + 12 * rng.normal()))
            for k, s in enumerate("ABCDE") for i in range(60)]  # fmt: skip
    report = evaluated(rows, standardise="none", scale=[-100, 300])
    for own in report.pairs:
        assert own.conclusion == concluded(own.p_greater, own.p_less, 0.05)
    for name in "ABCDE":
        better = sum((p.conclusion == "a" and p.b == name) or (p.conclusion == "b" and p.a == name)
                     for p in report.pairs)  # fmt: skip
        worse = sum((p.conclusion == "a" and p.a == name) or (p.conclusion == "b" and p.b == name)
                    for p in report.pairs)  # fmt: skip
        assert system(report, name).range == (1 + better, 5 - worse)


def penalised(**more):
    rng = np.random.default_rng(5)
    return [row(w, s, i, int(rng.poisson(4 + 2 * k)), **more)
            for k, s in enumerate("ABC") for w in "vw" for i in range(30)]  # fmt: skip


@pytest.mark.parametrize("standardise", ["none", "annotator"])
@pytest.mark.parametrize("said", ["option", "column", "file"])
def test_of_penalties_the_fewest_are_best(said, standardise):
    choices = {"standardise": standardise, "test": "signed_rank"}
    if said == "file":
        lines = ["model,item,login,score,higher_is_better"]
        lines += [f"{r['system']},{r['segment']},{r['annotator']},{r['score']},False"
                  for r in penalised()]  # fmt: skip
        report = compute(parse(choices, [("x.csv", "\n".join(lines).encode())]))
    elif said == "column":
        report = evaluated(penalised(higher_is_better=False), **choices)
    else:
        report = evaluated(penalised(), lower=["score"], **choices)
    turned = evaluated([{**r, "score": 50 - r["score"]} for r in penalised()], **choices)
    for own, other in zip(report.pairs, turned.pairs, strict=True):
        assert (own.conclusion, own.p_greater) == (other.conclusion, pytest.approx(other.p_greater))
    assert [own.range for own in report.systems] == [own.range for own in turned.systems]
    assert report.higher_is_better == {"score": False}
    fewest, z = system(report, "A"), standardise == "annotator"
    raw = [r["score"] for r in penalised() if r["system"] == "A"]
    assert fewest.raw == pytest.approx(np.mean(raw))
    assert fewest.ci[0] < (fewest.z if z else fewest.raw) < fewest.ci[1]
    assert fewest.criteria["score"].box[2] == pytest.approx(
        system(turned, "A").criteria["score"].box[2] if z
        else 50 - system(turned, "A").criteria["score"].box[2])  # fmt: skip
    assert (pair(report, "A", "C").difference > 0) == z
    assert "score (lower is better" in FORMATS["text"].render(KIND.present(report))
    for own, other in zip(report.agreement, turned.agreement, strict=True):
        assert own.mean_difference == other.mean_difference
    if said == "option":  # which direction is better has no part in who agrees
        assert report.agreement == evaluated(penalised(), **choices).agreement


def test_names_of_penalties_are_warned_of():
    def said(rows, name="x", **choices):
        lines = ["system,segment,score,criterion"]
        lines += [f"{r['system']},{r['segment']}{r['annotator']},{r['score']},{r['criterion']}"
                  for r in rows]  # fmt: skip
        report = compute(parse(choices, [(name, "\n".join(lines).encode())]))
        return [own for own in sentences(report) if "greater is read as better" in own]

    assert said(penalised(criterion="penalty"))[0].startswith("penalty has the name")
    assert said(penalised(criterion="score"), "a/penalties.csv")[0].startswith("penalties has")
    assert not said(penalised(criterion="penalty"), lower=["penalty"])
    assert not said(penalised(criterion="score"))
    negative = [{**r, "score": -r["score"]} for r in penalised(criterion="MQM")]
    assert not said(negative, scale=[-50, 0])


def test_stars_are_those_of_corrected_p_values():
    rng = np.random.default_rng(3)
    rows = [row("w", s, i, round(50 + 4 * k + 12 * rng.normal())) for k, s in enumerate("ABCD")
            for i in range(40)]  # fmt: skip
    report = evaluated(rows, standardise="none", correction="holm", scale=[-100, 200])
    p = [q for own in report.pairs for q in (own.p_greater, own.p_less)]
    adjusted = multipletests(p, 0.05, "holm")[1].reshape(-1, 2).min(axis=1)
    assert [own.p_adjusted for own in report.pairs] == pytest.approx(adjusted)
    assert 0 < (adjusted <= 0.05).sum() < (np.array(p) <= 0.05).sum()
    for form in ("text", "markdown", "latex", "html"):
        shown = FORMATS[form].render(KINDS["human-evaluations"].lay_out(report, Layout("pairs")))
        assert "adjusted" in shown
    text = FORMATS["text"].render(KIND.present(report)).split("Pairs by")[1].split("* p adj")[0]
    assert text.count("*") == (adjusted <= 0.05).sum()


def test_a_table_that_this_report_has_nothing_for_is_not_called_unknown():
    report = evaluated(penalised(), standardise="none")
    with pytest.raises(RecipeError, match="nothing for the table gain; it has systems, pairs"):
        KINDS["human-evaluations"].lay_out(report, Layout("gain"))


def test_a_winner_with_the_worse_mean_is_pointed_out():
    """B is a little better almost everywhere and fails badly on five segments."""
    rows = [row("w", "A", i, 60) for i in range(60)]
    rows += [row("w", "B", i, 0 if i < 5 else 62) for i in range(60)]
    report = evaluated(rows, standardise="none")
    assert system(report, "A").raw > system(report, "B").raw
    assert pair(report, "A", "B").conclusion == "b"
    assert any("worse mean wins: B over A" in said for said in sentences(report))
    # clusters are cut in the order of means, as WMT's; ranges say what the test found
    assert [(own.cluster, own.range) for own in report.systems] == [(1, (2, 2)), (1, (1, 1))]


def test_paired_tests_use_shared_segments_only():
    rows = [row("w", "A", i, 40 + 3 * i % 17 + 9) for i in range(12)]
    rows += [row("w", "B", i, 40 + 3 * i % 17 - i % 2) for i in range(3, 20)]
    signed = evaluated(rows, standardise="none", test="signed_rank")
    swapped = evaluated(rows, standardise="none", test="approximate_randomization")
    a = np.array([40 + 3 * i % 17 + 9 for i in range(3, 12)])
    b = np.array([40 + 3 * i % 17 - i % 2 for i in range(3, 12)])
    assert pair(signed, "A", "B").n_a == 9
    assert pair(signed, "A", "B").p_greater == pytest.approx(1 / 2**9)
    found = pair(swapped, "A", "B")
    assert found.exact
    assert found.p_greater == 1 / 2**9
    assert found.difference == pytest.approx((a - b).mean())


def test_paired_tests_without_shared_segments_are_refused():
    rows = [row("w", "A", f"a{i}", 40 + i) for i in range(5)]
    rows += [row("w", "B", f"b{i}", 40 + i) for i in range(5)]
    with pytest.raises(InputError, match="'A' and 'B' were judged on no unit in common"):
        parse({"judgements": rows, "test": "signed_rank"})


def test_repeats_and_distinct_annotators_agree_as_counted_by_hand():
    rows = [row("v", "A", i, score) for i, score in enumerate([5, 25, 45, 65, 85])]
    rows += [row("w", "A", i, score) for i, score in enumerate([15, 35, 35, 99, 100])]
    rows += [row("v", "A", i, score, "REPEAT") for i, score in enumerate([19, 20, 60])]
    rows += [row("v", "B", 9, 50), row("w", "B", 8, 50)]
    report = evaluated(rows, standardise="none")
    same, distinct = report.agreement
    assert (same.judges, same.bins, same.categories) == ("same", "intervals", 5)
    assert (same.pairs, same.agreed) == (3, 2)  # 5-19, 25-20 agree; 45-60 do not
    assert same.uniform_chance.value == pytest.approx((2 / 3 - 0.2) / 0.8)
    assert same.mean_difference == pytest.approx((14 + 5 + 15) / 3)
    assert (distinct.pairs, distinct.agreed) == (5, 3)  # 5-15, 25-35, 85-100
    assert distinct.uniform_chance.value == pytest.approx(0.5)
    assert distinct.sd_difference == pytest.approx(statistics.stdev([10, 10, 10, 34, 15]))


def test_an_annotator_who_judges_again_unasked_is_no_distinct_one():
    rows = [row(w, s, i, 10 * i + 5 * (s == "A"), hit=w) for w in "vw" for s in "AB"
            for i in range(4)]  # fmt: skip
    rows += [row("v", "A", i, 10 * i, hit="other") for i in range(4)]
    (distinct,) = evaluated(rows).agreement
    assert distinct.pairs == 4 * 2 + 4


def test_standardised_scores_are_put_into_percentiles():
    rng = np.random.default_rng(2)
    rows = [row(w, s, i, int(rng.integers(0, 101))) for w in "vw" for s in "AB" for i in range(200)]
    report = evaluated(rows, categories=4)
    (distinct,) = report.agreement
    assert (distinct.bins, distinct.categories, distinct.pairs) == ("percentiles", 4, 400)
    prepared = parse({"judgements": rows}).prepared
    z = prepared.judgements.z
    labels = sum((z >= edge).astype(int) for edge in np.quantile(z, [0.25, 0.5, 0.75]))
    v, w = labels[:400], labels[400:]
    assert distinct.agreed == int((v == w).sum())


def test_scores_by_name_are_those_of_segments():
    rows = [row("w", s, f"s{i}", 10 * i + 5 * (s == "A")) for s in "AB" for i in range(3)]
    prepared = parse({"judgements": rows, "standardise": "none"}).prepared
    found = prepared.pooled.by_name(prepared.systems)
    assert found == {"A": {"s0": 5, "s1": 15, "s2": 25}, "B": {"s0": 0, "s1": 10, "s2": 20}}


def made(a, b, greater, criterion="c"):
    return JudgedPair(a, b, criterion, "rank_sum", 9, 9, 0.5 - greater, 0.0, greater, 1 - greater,
                      math.log10(min(greater, 1 - greater)), 1.0, "tie")  # fmt: skip


def test_combined_clusters_follow_wins_not_the_first_mean():
    names = ("A", "B", "C")
    adequacy = decide([made("A", "B", 0.3, "x"), made("A", "C", 0.001, "x"),
                       made("B", "C", 0.001, "x")], 0.05, "none")  # fmt: skip
    fluency = decide([made("A", "B", 0.99, "y"), made("A", "C", 0.5, "y"),
                      made("B", "C", 0.5, "y")], 0.05, "none")  # fmt: skip
    combined = combine({"x": adequacy, "y": fluency})
    assert [p.conclusion for p in combined] == ["b", "a", "a"]
    found = ranks(combined, names)
    assert [own.cluster for own in found] == [2, 1, 3]
    assert [(own.lowest, own.highest) for own in found] == [(2, 2), (1, 1), (3, 3)]


def test_combined_systems_with_equal_wins_share_a_cluster():
    beaten = decide([made("A", "B", 0.5), made("A", "C", 0.001), made("A", "D", 0.001),
                     made("B", "C", 0.001), made("B", "D", 0.001), made("C", "D", 0.5)],
                    0.05, "none")  # fmt: skip
    found = ranks(combine({"x": beaten, "y": beaten}), tuple("ABCD"))
    assert [own.cluster for own in found] == [1, 1, 2, 2]


def test_pairs_are_in_order_of_appearance():
    rows = [row("w", s, i, 50 + i + (s == "C")) for i in range(4) for s in "CAB"]
    report = evaluated(rows)
    assert [own.name for own in report.systems] == ["C", "A", "B"]
    assert [(p.a, p.b) for p in report.pairs] == list(combinations("CAB", 2))
