"""Scores and labels as files of a form."""

import gzip
import json
from typing import Any

import httpx
import pytest
from computed import rendered
from exchange import COMPARISONS, problem

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

Form = list[tuple[str, tuple[str, bytes]]]


def post(service: httpx.Client, files: Form, **request: Any) -> httpx.Response:
    return service.post(
        COMPARISONS,
        files=files,
        data={"request": json.dumps({"resamples": 99, **request})},
        headers={"Prefer": "wait=30"},
    )


def report_of(service: httpx.Client, answer: httpx.Response) -> str:
    assert answer.json()["status"] == "succeeded", answer.text
    return service.get(f"{answer.json()['links']['self']}/report").text


def test_files_of_scores_need_no_text(service):
    packed = gzip.compress(b"[0.58]\n[0.57]\n[0.60]\n[0.45]\n")
    files: Form = [
        ("scores", ("comet:A.tsv", b"0.62\n0.55\n0.71\n0.48\n")),
        ("scores", ("comet:B.jsonl.gz", packed)),
    ]
    answer = post(service, files, metrics=["scores:of=comet"])
    rows = {"A": [0.62, 0.55, 0.71, 0.48], "B": [0.58, 0.57, 0.6, 0.45]}
    expected = parse_comparison(
        {
            "systems": [{"name": n, "scores": {"comet": row}} for n, row in rows.items()],
            "metrics": ["scores:of=comet"],
            "resamples": 99,
        }
    )
    assert report_of(service, answer) == rendered("json", compare(expected))


def test_scores_and_labels_go_next_to_text(service):
    files: Form = [
        ("references", ("ref.txt", b"a b c d\ne f g h\ni j k l\n")),
        ("systems", ("A.txt", b"a b c d\ne f g x\ni j k l\n")),
        ("systems", ("B.txt", b"a b c x\ne f x x\ni j k l\n")),
        ("scores", ("A.tsv", b"5\t7\t8\n3\t6\t5\n8\t9\t10\n")),
        ("scores", ("B.tsv", b"4\t7\t8\n3\t5\t5\n6\t9\t10\n")),
        ("labels", ("labels.txt", b"news\nnews\nchat\n")),
    ]
    answer = post(service, files, metrics=["chrf", "fscore"], stratified=True)
    report = json.loads(report_of(service, answer))
    assert list(report["systems"][0]["scores"]) == ["chrf", "fscore"]
    assert "stratified" in report["signature"] or "strata" in report["signature"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"0.1\nx\n0.3\n", "B.tsv, line 2: 'x' is not a number; a score is one number"),
        (b"0.1\nnan\n0.3\n", "system 'B' has no 'scores' score for 1 of 3 segments (segment 2)"),
        (b"0.1\n0.2 0.3\n0.3\n", "line 2: 2 numbers, where the lines above have 1"),
        (b"0.1\n0.2\n", "B.tsv has 2 lines, but A.tsv has 3; every file needs one line a segment"),
    ],
)
def test_bad_numbers_are_one_clear_problem(service, stored, content, said):
    files: Form = [
        ("scores", ("A.tsv", b"1\n2\n3\n")),
        ("scores", ("B.tsv", content)),
    ]
    answer = post(service, files, metrics=["scores"])
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_two_files_of_the_same_scores_are_refused(service, stored):
    files: Form = [("scores", ("A.tsv", b"1\n2\n")), ("scores", ("A.txt", b"1\n3\n"))]
    told = problem(post(service, files, metrics=["scores"]), 422, "invalid-input")
    assert "A.tsv and A.txt both have 'scores' scores of 'A'" in told["detail"]
