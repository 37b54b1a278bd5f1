"""Metric evaluations whose scores come as files: tables, and archives of an EvalSet."""

import io
import tarfile
import zipfile
from typing import Any

import pytest
from scored import SYSTEMS, request

from sigtest.errors import InputError, SigtestError
from sigtest.files.folders import EvalSet
from sigtest.files.judgements import read_scores
from sigtest.kinds import KINDS, FormFile
from sigtest.meta_evaluation.question import parse, with_files

KIND = KINDS["metric-evaluations"]
NAMES = ("Aspen", "Birch", "Cedar", "Daisy", "refA")


def table(scores: dict[str, Any]) -> bytes:
    """A file of scores: a line a system, or a line a system and segment."""
    lines = []
    for name, own in scores.items():
        lines += [
            f"{name}\t{'None' if v is None else v}"
            for v in (own if isinstance(own, list) else [own])
        ]
    return "\n".join(lines).encode()


def files(body: dict[str, Any], level: str) -> list[FormFile]:
    found = [FormFile("human", "people.tsv", table(body["human"]["scores"][level]))]
    for label, own in body["metrics"].items():
        found.append(FormFile("scores", f"{label}.tsv", table(own[level])))
    return found


@pytest.mark.parametrize("level", ["system", "segment"])
def test_tables_say_the_same_as_the_request(level):
    body = request(level=level, statistics=["pearson"])
    for part in (body["human"]["scores"], *body["metrics"].values()):
        part.pop({"system": "segment", "segment": "system"}[level])
    rest = {k: v for k, v in body.items() if k not in ("human", "metrics")}
    rest["metrics"] = {"TER": {"higher": False}}
    asked = KIND.parse(rest, files(body, level))
    assert asked.key == parse(body).key


def test_tables_stand_beside_metrics_of_the_request():
    body = request(tests=[])
    given = {**body, "metrics": {"BLEU": body["metrics"]["BLEU"]}}
    comet = FormFile("scores", "COMET.tsv", table(body["metrics"]["COMET"]["system"]))
    asked = KIND.parse(given, [comet])
    assert asked.about.metrics == ("BLEU", "COMET")


def write(archive: dict[str, bytes], path: str, rows: list[tuple[str, object]]) -> None:
    archive[path] = "".join(f"{name}\t{score}\n" for name, score in rows).encode()


@pytest.fixture
def members() -> dict[str, bytes]:
    """Two pairs of languages, refA the reference of all metrics but one."""
    found: dict[str, bytes] = {}
    for lp, shift in (("xx-yy", 0.0), ("xx-zz", 0.3)):
        scores = dict(zip(NAMES, (0.1, 0.4 + shift, 0.3, 0.7, 0.9), strict=True))
        write(found, f"set/human-scores/{lp}.mqm.sys.score", [*scores.items()])
        segments = [(name, s + i % 2) for name, s in scores.items() for i in range(6)]
        write(found, f"set/human-scores/{lp}.mqm.seg.score", segments)
        for k, label in enumerate(("BLEU-refA", "chrF-refA", "QE-src")):
            own = {name: (i * 7 + k) % 5 for i, name in enumerate(scores)}
            write(found, f"set/metric-scores/{lp}/{label}.sys.score", [*own.items()])
            rows = [(name, s + i) for name, s in own.items() for i in range(6)]
            write(found, f"set/metric-scores/{lp}/{label}.seg.score", rows)
        found[f"set/references/{lp}.refA.txt"] = b"a\n" * 6
    found["README.md"] = b"An EvalSet.\n"
    return found


def zipped(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(members: dict[str, bytes], mode: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


@pytest.mark.parametrize("pack", [zipped, lambda m: tarred(m, "w:gz"), lambda m: tarred(m, "w")])
def test_an_archive_says_the_same_as_its_folder(members, pack, tmp_path):
    for name, content in members.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    folder = EvalSet.of_folder(tmp_path / "set")
    file = FormFile("evalset", "set", pack(members))
    asked = KIND.parse({"lp": "xx-yy", "gold": "mqm", "resamples": 99}, [file])
    assert asked.key == parse({**folder.request("xx-yy", "mqm"), "resamples": 99}).key
    assert asked.about.systems == NAMES[:4]
    several = KIND.parse({"lp": ["xx-yy", "xx-zz"], "gold": "mqm", "metrics": ["QE"]}, [file])
    assert several.key == parse(folder.requests(["xx-yy", "xx-zz"], "mqm", ["QE"])).key


def test_more_systems_can_be_left_out_of_an_evalset(members):
    file = FormFile("evalset", "set.zip", zipped(members))
    choices = {"lp": "xx-yy", "gold": "mqm", "exclude_systems": ["Daisy"], "baseline": "chrF-refA"}
    asked = KIND.parse(choices, [file])
    assert asked.sets[0].excluded == ("refA", "Daisy")
    assert asked.choices.baseline == "chrF-refA"


HUMAN = FormFile("human", "people.tsv", table(dict(zip(SYSTEMS, range(6), strict=True))))
SCORES = FormFile("scores", "x.tsv", table(dict(zip(SYSTEMS, (3, 1, 2, 5, 4, 6), strict=True))))
EVALSET = FormFile("evalset", "set.zip", b"")
LOWER = b"system,score,higher_is_better\na,1,False\nb,2,False\n"
TWICE = b"system\tsegment\tannotator\tscore\nA\t1\tx\t3\nA\t1\ty\t4\n"
JUDGED = FormFile("judgements", "j.tsv", b"system\tsegment\tscore\nA\t1\t3\n")
REFUSED = [
    ({}, [HUMAN, HUMAN, SCORES], "human", "one file of human scores"),
    ({"human": {"scores": {}}}, [HUMAN, SCORES], "human", "one file of human scores"),
    ({"human": {"quality": {}}}, [HUMAN, SCORES], "human",
     "has scores by people; leave out quality, which"),
    ({}, [HUMAN, JUDGED, SCORES], "human", "or judgements"),
    ({}, [FormFile("human", "j.tsv", TWICE), SCORES], "human", "give it as the part judgements"),
    ({}, [FormFile("human", "p.tsv", LOWER), SCORES], "human", "less is better .* turn their sign"),
    ({}, [HUMAN, SCORES, SCORES], "scores", "Two files bring the scores of x"),
    ({"metrics": {"x": {"system": {}}}}, [HUMAN, SCORES], "metrics.x", "as a file and in the"),
    ({"metrics": []}, [HUMAN, SCORES], "metrics", "an object by label"),
    ({}, [HUMAN, FormFile("scores", "x.tsv", b"A\tB\tC\n")], "scores", "x.tsv, line 1"),
    ({}, [FormFile("human", "p.tsv", b""), SCORES], "human", "p.tsv has no scores"),
    ({"lp": "a-b"}, [HUMAN, SCORES], "lp", "none is there"),
    ({}, [EVALSET, SCORES], "evalset", "brings no other file"),
    ({"lp": "xx-yy"}, [EVALSET], "gold", "is missing"),
    ({"gold": "mqm"}, [EVALSET], "lp", "is missing"),
    ({"lp": "xx-yy", "gold": "mqm", "human": {}}, [EVALSET], "human", "leave it out"),
    ({"lp": "xx-yy", "gold": "mqm", "metrics": "QE"}, [EVALSET], "metrics", "must be a list"),
    ({"lp": "xx-yy", "gold": "mqm", "metrics": ["QX-src"]}, [EVALSET], "metrics", "mean 'QE-src'"),
    ({"lp": "xx-yx", "gold": "mqm"}, [EVALSET], "lp", "Did you mean 'xx-yy'"),
    ({"lp": "xx-yy", "gold": "mqm"}, [FormFile("evalset", "s", b"text")], "evalset", "no zip"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "brought", "field", "said"), REFUSED)
def test_refused(members, body, brought, field, said):
    own = [
        FormFile(f.part, f.name, f.data or zipped(members)) if f is EVALSET else f for f in brought
    ]
    with pytest.raises(SigtestError, match=said) as caught:
        KIND.parse(body, own)
    assert caught.value.field == field


def test_an_archive_without_human_scores_is_no_evalset():
    file = FormFile("evalset", "set.zip", zipped({"a.txt": b"x"}))
    with pytest.raises(SigtestError, match="no folder human-scores"):
        KIND.parse({"lp": "xx-yy", "gold": "mqm"}, [file])


def test_scores_are_of_the_segment_that_their_row_names():
    """Whatever the column is called; one that counts lines names none."""
    rows = b"seg_id,system,score\n2,a,0.2\n1,a,0.1\n1,b,0.3\n2,b,0.4\n"
    found = {"segment": {"a": {"2": 0.2, "1": 0.1}, "b": {"1": 0.3, "2": 0.4}}}
    assert read_scores(rows, "x.csv") == found
    counted = b"index,system,score\n0,a,0.1\n1,a,0.2\n2,b,0.3\n3,b,0.4\n"
    assert read_scores(counted, "x.csv") == {"segment": {"a": [0.1, 0.2], "b": [0.3, 0.4]}}
    whole = b"id,system,score\n0,a,0.1\n1,b,0.3\n"
    assert read_scores(whole, "x.csv") == {"system": {"a": 0.1, "b": 0.3}}


def test_numbers_in_json_are_those_of_systems():
    assert read_scores(b'{"a": 0.1, "b": 0.3}', "x.json") == {"system": {"a": 0.1, "b": 0.3}}
    levelled = b'{"segment": {"a": [0.1], "b": [0.3]}, "higher": false}'
    assert read_scores(levelled, "x.json") == {
        "segment": {"a": [0.1], "b": [0.3]}, "higher": False,
    }  # fmt: skip


def test_a_table_says_in_a_column_that_less_is_better():
    scores = {"system": {"a": 1.0, "b": 2.0}}
    assert read_scores(LOWER, "ter.csv") == {**scores, "higher": False}
    assert read_scores(LOWER.replace(b"False", b"1"), "x.csv") == scores
    assert read_scores(LOWER.replace(b"False", b""), "x.csv") == scores


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"system,score,higher_is_better\na,1,False\nb,2,True\n",
            "line 3: another direction (higher_is_better) than above; leave one.",
        ),
        (b"system,score,higher_is_better\na,1,down\n", "line 2: 'down' is neither true nor false"),
        (b"TESTSET\tSYSTEM\tSCORE\nn1\ta\t1\nn1\tb\t2\nn2\ta\t3\n", "one test set, n1, n2"),
        (b"a;0,5\nb;0,6\n", "line 1: 1 column; system and score are expected"),
        (b"a\t0,5\nb\t0,6\n", "write the decimal mark as a point"),
        (b"system,score\nA,1\nB,-inf\n", "line 3: '-inf' is not finite"),
        (b"SYSTEM\tSCORE\tSCORE\nA\t1\t2\n", "line 1: more than one column for the score"),
        (b"a\t0.5\nb\tskipped\n", "leave the cell empty if there is no score"),
        (
            b"system,segment,score\na,1,5\na,mean,5\n",
            "line 3: segment 'mean' sums others up by its name; take such rows out.",
        ),
        (b"system,seed,score\na,1,5\na,2,5\nb,1,5\nb,2,6\n", "each of a run and none of a segment"),
        (b"system,task,score\na,x,5\na,y,5\n", "more than one test set, x, y; leave one"),
        (b"system,genre,score\na,x,5\na,y,5\n", "each of a domain and none of a segment"),
        (b'{"system": {"a": 1, "a": 2}}', "the field 'a' stands twice"),
    ],
)  # fmt: skip
def test_scores_that_could_be_misread_are_refused(data, said):
    with pytest.raises(InputError) as error:
        read_scores(data, "x.tsv")
    assert said in error.value.message


@pytest.mark.parametrize("data", [b"a\t0.5\nb\tn.a.\n", b"system,score\na,0.5\nb,\n"])
def test_cells_without_a_score_are_missing_as_in_every_table(data):
    assert read_scores(data, "x.tsv") == {"system": {"a": 0.5, "b": None}}


def test_quotation_marks_round_names_are_none_of_their_letters():
    """As R writes them, with names of rows or without."""
    found = {"system": {"a": 0.5, "b": 0.7}}
    assert read_scores(b'"system","score"\n"a",0.5\n"b",0.7\n', "x.csv") == found
    assert read_scores(b'"","system","score"\n"1","a",0.5\n"2","b",0.7\n', "x.csv") == found
    assert read_scores(b'"a"\t0.5\n"b"\t0.7\n', "x.tsv") == found


def test_a_wrong_score_by_people_is_named_where_the_table_has_no_segments() -> None:
    table = b"id,system,score\n1,A,0.5\n1,B,x\n"
    with pytest.raises(InputError, match=r"h\.csv, line 3: 'x' is not a number"):
        with_files({}, {"human": [("h.csv", table)]})
