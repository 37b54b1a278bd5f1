"""Requests: rows or files, what is stored, what is refused."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.people.compute import compute
from sigtest.people.question import HumanQuestion, parse
from sigtest.report import decode, encode

ROWS = [
    {"annotator": f"w{i % 3}", "system": s, "segment": i, "kind": "SYSTEM", "criterion": c,
     "score": (37 * i + 11 * ord(s) + 5 * len(c)) % 101, "hit": f"h{i % 2}", "seconds": 9 + i % 4,
     "document": f"d{i // 5}"}
    for s in "ABC" for c in ("adequacy", "fluency") for i in range(20)
]  # fmt: skip


def asked(**choices):
    return parse({"judgements": ROWS, **choices})


def as_dict(report):
    return json.dumps(asdict(report), sort_keys=True, allow_nan=False)


CHOICES = {
    "input": "wmt_da", "scale": [0, 100], "standardise": "annotator",
    "quality": {"test": "paired_t", "threshold": 0.05, "min_pairs": 3, "untestable": "keep"},
    "criteria": ["adequacy", "fluency"], "test": "rank_sum", "aggregate": "segment",
    "alpha": 0.05, "correction": "none", "aliases": {"A": "NVIDIA-NeMo"}, "domains": "micro",
    "longitudinal": {"best_old": "NVIDIA-NeMo", "best_new": "B", "current_old": "C",
                     "current_new": "B"},
}  # fmt: skip


def test_every_field_of_the_request_is_taken():
    report = compute(asked(**CHOICES))
    assert [own.name for own in report.systems] == ["NVIDIA-NeMo", "B", "C"]
    assert report.sources[0].input == "wmt_da"
    assert report.gain[0].criteria["fluency"].raw is not None
    assert "aliases:A=NVIDIA-NeMo" in report.signature


def test_of_several_unknown_fields_the_first_is_named():
    row = ROWS[0] | {f"odd{i}": 1 for i in range(40)}
    with pytest.raises(RecipeError) as raised:
        parse({"judgements": [row]})
    assert raised.value.field == "judgements[0].odd0"


def test_what_is_stored_rebuilds_the_same_question():
    first = asked(**CHOICES)
    stored = json.loads(json.dumps(encode(first), allow_nan=False))
    again = decode(HumanQuestion, stored)
    assert again.key == first.key
    assert as_dict(compute(again)) == as_dict(compute(first))
    assert encode(again) == encode(first)


def test_what_is_stored_of_rankings_rebuilds_the_same_question(data):
    path = data / "wmt12.es-en" / "human" / "wmt12.RNK_results.es-en.csv"
    first = parse({}, [(path.name, path.read_bytes())])
    again = decode(HumanQuestion, json.loads(json.dumps(encode(first))))
    assert again.key == first.key
    assert as_dict(compute(again)) == as_dict(compute(first))


def test_unknown_values_survive_storage():
    rows = [{"system": s, "segment": i, "score": 5 * i} for s in "AB" for i in range(4)]
    first = parse({"judgements": rows})
    again = decode(HumanQuestion, json.loads(json.dumps(encode(first))))
    assert again.judgements.annotator.at(0) is None
    assert np.isnan(again.judgements.seconds).all()
    assert again.key == first.key


@pytest.mark.parametrize(
    "change",
    [{"alpha": 0.01}, {"seed": 1}, {"correction": "holm"}, {"criteria": ["fluency"]},
     {"quality": {"untestable": "keep"}}, {"categories": 4}, {"aliases": {"A": "X"}}],
)  # fmt: skip
def test_every_choice_has_its_own_key(change):
    assert asked().key == asked().key
    assert asked(**change).key != asked().key


def test_content_and_version_have_their_own_key(monkeypatch):
    rows = [dict(row) for row in ROWS]
    rows[7]["score"] += 1
    assert parse({"judgements": rows}).key != asked().key
    before = asked().key
    monkeypatch.setattr("sigtest.kinds.base.__version__", "9.9.9")
    assert asked().key != before


def test_file_names_change_nothing():
    text = b"system,segment,score\nA,1,5\nB,1,7\nA,2,9\n"
    first, second = parse({}, [("one", text)]), parse({}, [("two", text)])
    assert first.key == second.key
    assert as_dict(compute(first)) == as_dict(compute(second))


def test_rows_and_files_give_the_same_numbers():
    lines = "\n".join(json.dumps(row) for row in ROWS)
    file = compute(parse({}, [("x.jsonl", lines.encode())]))
    inline = compute(asked())
    source = inline.sources[0]
    assert replace(file, sources=inline.sources, signature="") == replace(inline, signature="")
    assert (source.rows, source.used) == (120, 120)


def test_the_order_of_rows_changes_no_number():
    order = np.random.default_rng(1).permutation(len(ROWS))
    mixed = compute(parse({"judgements": [ROWS[i] for i in order]}))
    plain = compute(asked())
    for own in plain.systems:
        other = next(s for s in mixed.systems if s.name == own.name)
        assert other.raw == pytest.approx(own.raw, rel=1e-12)
        assert other.z == pytest.approx(own.z, rel=1e-12)
    found = {frozenset((p.a, p.b)): p for p in mixed.pairs if p.criterion == "fluency"}
    for own in plain.pairs:
        if own.criterion == "fluency":
            other = found[frozenset((own.a, own.b))]
            turned = other.p_greater if other.a == own.a else other.p_less
            assert turned == pytest.approx(own.p_greater, rel=1e-12)


def test_progress_is_told():
    said = []
    compute(asked(), lambda *event: said.append(event))
    assert [phase for phase, _, _ in said] == ["judgements", "judgements", "pairs", "pairs",
                                               "agreement"]  # fmt: skip


def test_defaults_depend_on_what_the_judgements_know():
    known = asked().choices
    assert (known.standardise, known.test, known.criteria) == (
        "annotator", "rank_sum", ("adequacy", "fluency"))  # fmt: skip
    rows = [{k: v for k, v in row.items() if k != "annotator"} for row in ROWS]
    assert parse({"judgements": rows}).choices.standardise == "none"


REFUSED = {
    "no object": (["x"], "JSON object"),
    "nothing": ({}, "judgements is missing"),
    "no system": ({"judgements": [{"segment": 1, "score": 5}]}, "no column system"),
    "no score": ({"judgements": [{"segment": 1, "system": "A"}]}, "no column score"),
    "kind": ({"judgements": [*ROWS, {**ROWS[0], "kind": "SYSTEMS"}]},
             r"judgements\[120\].kind: unknown kind of judgement 'SYSTEMS'"),
    "list for a score": ({"judgements": [{**ROWS[0], "score": [1]}]}, r"\[1\] is no score"),
    "hostile name": ({"judgements": [{**ROWS[0], "system": "<b>"}]}, "system name '<b>' contains"),
    "contradiction": ({"judgements": [*ROWS, {**ROWS[0], "score": 1}]},
                      r"contradicts judgements\[0\]"),
    "field": ({"judgments": ROWS}, "Did you mean 'judgements'"),
    "input": ({"judgements": ROWS, "input": "wmtda"}, "Did you mean 'wmt_da'"),
    "own scale": ({"judgements": ROWS, "scale": [0, 10]}, "outside the scale from 0 to 10"),
    "quality": ({"judgements": ROWS, "quality": {"tests": "welch"}}, "Did you mean 'test'"),
    "quality test": ({"judgements": ROWS, "quality": {"test": "t"}}, "test of annotators"),
    "threshold": ({"judgements": ROWS, "quality": {"threshold": 2}}, "between 0 and 1"),
    "pairs": ({"judgements": ROWS, "quality": {"min_pairs": 1}}, "from 2 to"),
    "criterion": ({"judgements": ROWS, "criteria": ["adequcy"]}, "Did you mean 'adequacy'"),
    "criterion twice": ({"judgements": ROWS, "criteria": ["fluency"] * 2}, "2 times"),
    "test of comparisons": ({"judgements": ROWS, "test": "bradley_terry"}, "significance test of"),
    "alpha": ({"judgements": ROWS, "alpha": 0.5}, "alpha must lie between 0 and 0.5"),
    "correction": ({"judgements": ROWS, "correction": "max_t"}, "Unknown correction"),
    "alias": ({"judgements": ROWS, "aliases": {"D": "X"}}, "Unknown system 'D'"),
    "alias to another": ({"judgements": ROWS, "aliases": {"A": "B"}}, "two systems the name 'B'"),
    "domains": ({"judgements": ROWS, "domains": "macro"}, "choose one of micro"),
    "three of four": ({"judgements": ROWS, "longitudinal": {"best_old": "A", "best_new": "B",
                                                            "current_old": "C"}},
                      "longitudinal.current_new is missing"),
    "unknown of four": ({"judgements": ROWS, "longitudinal": {
        "best_old": "A", "best_new": "B", "current_old": "C", "current_new": "Z"}},
        "Unknown system 'Z'"),
    "languages": ({"judgements": ROWS, "languages": "de-en"},
                  "Unknown language pair 'de-en'; there is none here."),
    "combined": ({"judgements": [{**row, "criterion": "combined"} for row in ROWS[:20]]},
                 "may be called combined"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_requests_are_refused_by_field(case):
    request, message = REFUSED[case]
    with pytest.raises(SigtestError, match=message):
        parse(request)


def test_a_refused_row_names_its_field():
    with pytest.raises(InputError) as caught:
        parse({"judgements": [ROWS[0], {**ROWS[1], "score": -1}]})
    assert caught.value.field == "judgements[1].score"
    assert (caught.value.line, caught.value.system) == (2, "A")


def test_scores_are_never_standardised_twice():
    rows = [{"system": s, "segment": i, "z": (i - 3) / 2} for s in "AB" for i in range(6)]
    assert parse({"judgements": rows}).choices.standardise == "none"
    assert parse({"judgements": rows, "standardise": "none"}).judgements.standardised
    with pytest.raises(RecipeError, match="judgements is standardised already"):
        parse({"judgements": rows, "standardise": "annotator"})


def test_a_standardised_file_named_explicitly_is_refused(data):
    path = data / "flores21.bn-hi" / "human" / "ad-bnhi-good-stnd.csv"
    with pytest.raises(RecipeError, match=f"{path.name} is standardised already"):
        parse({"standardise": "annotator_no_refs"}, [(path.name, path.read_bytes())])


def test_what_needs_annotators_says_so():
    rows = [{"system": s, "segment": i, "score": i} for s in "AB" for i in range(6)]
    with pytest.raises(RecipeError, match="does not say who judged"):
        parse({"judgements": rows, "standardise": "annotator"})
    with pytest.raises(RecipeError, match="quality needs judgements that say who judged"):
        parse({"judgements": rows, "quality": {}})
    with pytest.raises(RecipeError, match="needs the document of every judgement"):
        parse({"judgements": rows, "aggregate": "document"})


def test_a_system_without_a_criterion_is_named():
    rows = [row for row in ROWS if (row["system"], row["criterion"]) != ("B", "fluency")]
    with pytest.raises(InputError, match="No judgement of fluency is left of B"):
        parse({"judgements": rows})


@pytest.mark.parametrize(
    ("choice", "message"),
    [({"quality": {}}, "quality needs scores"), ({"standardise": "annotator"}, "needs scores"),
     ({"test": "rank_sum"}, "Unknown test of"), ({"aggregate": "document"}, "needs scores"),
     ({"criteria": ["adequacy"]}, "Unknown criterion"), ({"scale": [0, 1]}, "scale needs scores")],
)  # fmt: skip
def test_rankings_refuse_what_needs_scores(choice, message):
    text = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n1,j,A,B,1,2\n"
    with pytest.raises(RecipeError, match=message):
        parse(choice, [("r", text.encode())])


def test_files_and_rows_together_are_refused():
    with pytest.raises(InputError, match="not both"):
        parse({"judgements": ROWS}, [("x", b"system,segment,score\nA,1,5\n")])


def test_rankings_and_scores_together_are_refused():
    ranking = b"srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n1,j,A,B,1,2\n"
    with pytest.raises(InputError, match="cannot be evaluated together"):
        parse({}, [("r", ranking), ("x", b"system,segment,score\nA,1,5\n")])
