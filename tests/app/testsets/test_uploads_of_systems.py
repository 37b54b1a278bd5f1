"""Test sets and systems as forms with files, and systems with several training runs."""

import gzip
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from computed import rendered
from exchange import problem

from app.settings import Settings
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

TESTSETS = "/v1/testsets"
REFERENCE = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"]
OTHER = ["a b c d f", "f g h i", "k l m n o p", "q r s t"]
RUNS = {
    "good": [["a b c d e", "f g h i", "k l m n o", "p q r s t"], REFERENCE],
    "Poor": [["x b c d", "f g j k", "z z n o", "p q t"], ["a b c d", "f k", "k l n o", "p q r s"]],
    "fair": [["a b c d", "f g h i j k", "k l n o", "p q r s"], ["a b c", "f g h", "k l", "p q"]],
}
DOCUMENTS = ["d1", "d1", "d2", "d3"]
SETTINGS: dict[str, Any] = {"metrics": ["bleu", "chrf", "ter"], "resamples": 99}
WAIT = {"Prefer": "wait=60"}

Part = tuple[str, tuple[str | None, bytes]]
Make = Callable[..., str]


@pytest.fixture
def make(service: httpx.Client) -> Make:
    """Make a test set, each test its own; its address."""

    def made(**fields: Any) -> str:
        body = {"name": uuid.uuid4().hex, "references": [REFERENCE], **SETTINGS, **fields}
        answer = service.post(TESTSETS, json=body)
        assert answer.status_code == 201, answer.text
        return answer.headers["location"]

    return made


def text(lines: list[str]) -> bytes:
    return "\n".join(lines).encode() + b"\n"


def file(part: str, lines: list[str], name: str = "file.txt") -> Part:
    content = text(lines)
    return part, (name, gzip.compress(content) if name.endswith(".gz") else content)


def request_of(**fields: Any) -> Part:
    return "request", (None, json.dumps(fields).encode())


def test_a_leaderboard_of_replicas_is_the_comparison_of_them(service, make):
    fields = {"documents": DOCUMENTS, "unit": "document"}
    url = make(replicas=2, **fields)
    assert service.get(url).json()["settings"]["replicas"] == 2
    for name, replicas in (("good", RUNS["fair"]), *RUNS.items()):
        address = f"{url}/systems/{name}?replace=true"
        assert service.put(address, json={"replicas": replicas}, headers=WAIT).is_success
    service.delete(f"{url}/systems/fair")
    for metric in SETTINGS["metrics"]:
        systems = [{"name": name, "replicas": RUNS[name]} for name in ("Poor", "good")]
        body = {"references": [REFERENCE], **SETTINGS, **fields, "systems": systems, "family": 64}
        whole = parse_comparison({**body, "metrics": [metric]})
        expected = rendered("json", compare(whole))
        answer = service.get(f"{url}/leaderboard", params={"metric": metric})
        own, alone = (json.loads(text) for text in (answer.text, expected))
        for field in alone.keys() - {"signature", "methods"}:  # which name all metrics
            assert own[field] == alone[field], field
        shown = answer.json()["systems"][1]["scores"][metric]
        told = service.get(f"{url}/systems/good").json()["scores"][metric]
        assert told == shown


@pytest.mark.parametrize(
    ("replicas", "body", "kind", "message"),
    [
        (2, {"hypotheses": REFERENCE}, "invalid-input", "brings no replicas; every system"),
        (2, {"replicas": [REFERENCE] * 3}, "invalid-input", "brings 3 replicas; every system"),
        (1, {"replicas": [REFERENCE] * 2}, "invalid-input", "brings 2 replicas; every system"),
        (2, {"replicas": [REFERENCE, OTHER[1:]]}, "length-mismatch", "3 lines of replica 2"),
        (2, {"replicas": [REFERENCE, OTHER], "hypotheses": OTHER}, "invalid-input", "besides"),
        (2, {"replicas": [REFERENCE, OTHER], "scores": {"x": [1]}}, "invalid-input", "besides"),
        (2, {"replicas": [REFERENCE, "text"]}, "invalid-input", "replicas[1] must be a list"),
        (2, {"replicas": []}, "invalid-input", "has no replicas"),
        (2, {"replica": []}, "invalid-recipe", "Did you mean 'replicas'"),
    ],
)
def test_replicas_that_do_not_fit_change_nothing(
    service, make, stored, replicas, body, kind, message
):
    url = make(replicas=replicas)
    before = stored()
    document = problem(
        service.put(f"{url}/systems/bad", json=body), 400 if kind == "malformed-body" else 422, kind
    )
    assert message in document["detail"]
    assert document["errors"][0]["system"] == "bad"
    assert stored() == before
    assert service.get(f"{url}/systems").json()["systems"] == []


@pytest.mark.parametrize(
    ("fields", "kind", "field"),
    [
        ({"replicas": 0}, "invalid-recipe", "replicas"),
        ({"replicas": "two"}, "invalid-recipe", "replicas"),
        ({"replicas": 2, "metrics": ["bleu", "scores"]}, "invalid-recipe", "metrics"),
        ({"references": [], "segments": 4}, "invalid-input", "references"),
    ],
)
def test_test_sets_that_no_system_could_join(service, fields, kind, field):
    body = {"name": "bad", "references": [REFERENCE], **SETTINGS, **fields}
    document = problem(
        service.post(TESTSETS, json=body), 400 if kind == "malformed-body" else 422, kind
    )
    assert document["errors"][0]["field"] == field


def test_every_replica_counts_against_the_limit(serve):
    small = serve(Settings(max_systems=3))
    body = {"name": "limits", "references": [REFERENCE], **SETTINGS}
    document = problem(small.post(TESTSETS, json={**body, "replicas": 4}), 413, "limit-exceeded")
    assert document["limit"] == "max_systems"
    url = small.post(TESTSETS, json={**body, "replicas": 2}).headers["location"]
    assert small.put(f"{url}/systems/good", json={"replicas": RUNS["good"]}).is_success
    second = small.put(f"{url}/systems/fair", json={"replicas": RUNS["fair"]})
    refused = problem(second, 413, "limit-exceeded")
    assert refused["limit"] == "max_systems"
    assert "1 system already" in refused["detail"]


def test_a_form_makes_the_test_set_of_the_json(service, make):
    content = {"documents": DOCUMENTS, "labels": DOCUMENTS, "source": REFERENCE}
    url = make(references=[REFERENCE, OTHER], seed=3, **content)
    name = service.get(url).json()["name"]
    parts = [
        file("references", REFERENCE, "ref.en"),
        file("references", OTHER, "ref2.en.gz"),
        file("documents", DOCUMENTS),
        file("labels", DOCUMENTS, "labels.gz"),
        file("source", REFERENCE),
        request_of(name=name, seed=3, **SETTINGS),
    ]
    again = service.post(TESTSETS, files=parts)
    assert (again.status_code, again.headers["location"]) == (200, url)
    listed = [*parts[:2], request_of(name=name, seed=3, **content, **SETTINGS)]
    assert service.post(TESTSETS, files=listed).headers["location"] == url


def test_a_form_brings_what_the_json_brings(service, make):
    metrics = ["bleu", "scores:of=scores", "scores:of=comet"]
    url = make(metrics=metrics)
    scores = [[0.5, 0.25, 0.75, 1.0], [3.0, 1.0, 2.0, 2.5]]
    parts = [
        file("hypotheses", OTHER, "any.en.gz"),
        file("scores", [str(score) for score in scores[0]], "any.tsv"),
        file("scores", [str(score) for score in scores[1]], "comet:other.tsv"),
    ]
    first = service.put(f"{url}/systems/good", files=parts, headers=WAIT)
    assert first.status_code == 201, first.text
    assert first.json()["scores"]["comet"]["score"] == 2.125
    body = {"hypotheses": OTHER, "scores": {"scores": scores[0], "comet": scores[1]}}
    assert service.put(f"{url}/systems/good", json=body).json()["digest"] == first.json()["digest"]


def test_several_files_are_replicas_in_order(service, make):
    url = make(replicas=2)
    parts = [file("hypotheses", lines, "z.gz") for lines in RUNS["fair"]]
    first = service.put(f"{url}/systems/fair", files=parts, headers=WAIT)
    assert first.status_code == 201
    again = service.put(f"{url}/systems/fair", json={"replicas": RUNS["fair"]})
    assert again.json()["digest"] == first.json()["digest"]
    problem(service.put(f"{url}/systems/fair", files=parts[::-1]), 409, "name-taken")


REFERENCES = file("references", REFERENCE)
NAMED = request_of(name="bad")
BAD_TEST_SETS: dict[str, tuple[list[Part], str, str]] = {
    "no request": ([REFERENCES], "invalid-input", "name is missing"),
    "two requests": ([REFERENCES, NAMED, NAMED], "invalid-input", "one request part"),
    "request no JSON": ([REFERENCES, ("request", (None, b"{"))], "malformed-body", "not JSON"),
    "unknown part": ([REFERENCES, NAMED, file("systems", OTHER)], "invalid-input", "'systems'"),
    "no file": ([("references", (None, b"a")), NAMED], "invalid-input", "as files"),
    "no references": ([NAMED], "invalid-input", "reference set is needed"),
    "references twice": (
        [REFERENCES, request_of(name="bad", references=[REFERENCE])],
        "invalid-input",
        "references as files, not in request",
    ),
    "documents twice": (
        [REFERENCES, file("documents", DOCUMENTS), request_of(name="bad", documents=DOCUMENTS)],
        "invalid-input",
        "documents as files, not in request",
    ),
    "two documents": (
        [REFERENCES, file("documents", DOCUMENTS), file("documents", DOCUMENTS), NAMED],
        "invalid-input",
        "one documents file",
    ),
    "unequal references": (
        [REFERENCES, file("references", OTHER[1:]), NAMED],
        "length-mismatch",
        "has 3 lines, but file.txt has 4",
    ),
    **{
        f"unequal {part}": (
            [REFERENCES, file(part, DOCUMENTS[1:]), NAMED],
            "length-mismatch",
            "file.txt has 3 lines, but file.txt has 4",
        )
        for part in ("documents", "labels", "source")
    },
    "no UTF-8": (
        [("references", ("ref.en", b"a\nb\xff\n")), NAMED],
        "invalid-input",
        "ref.en, line 2: invalid UTF-8",
    ),
    "half a gzip": (
        [("references", ("ref.gz", gzip.compress(b"a\n" * 99)[:-9])), NAMED],
        "invalid-input",
        "ref.gz is not a whole gzip file",
    ),
    "a number of replicas": (
        [REFERENCES, request_of(name="bad", replicas=-1)],
        "invalid-recipe",
        "replicas must be a whole number",
    ),
}


@pytest.mark.parametrize(("parts", "kind", "message"), BAD_TEST_SETS.values(), ids=BAD_TEST_SETS)
def test_forms_of_test_sets_that_are_refused(service, stored, parts, kind, message):
    before = stored()
    assert (
        message
        in problem(
            service.post(TESTSETS, files=parts), 400 if kind == "malformed-body" else 422, kind
        )["detail"]
    )
    assert stored() == before


HYPOTHESES = file("hypotheses", OTHER, "good.en")
BAD_SYSTEMS: dict[str, tuple[list[Part], str, str]] = {
    "unknown part": ([HYPOTHESES, file("references", OTHER)], "invalid-input", "Unknown part"),
    "a name twice": ([HYPOTHESES, NAMED], "invalid-recipe", "Unknown field 'name'"),
    "no file": ([("hypotheses", (None, b"a"))], "invalid-input", "as files"),
    "scores alone": ([file("scores", ["1"] * 4)], "invalid-input", "has none"),
    "short": ([file("hypotheses", OTHER[1:])], "length-mismatch", "3 lines of hypotheses"),
    "replicas": ([HYPOTHESES, HYPOTHESES], "invalid-input", "brings 2 replicas"),
    "replicas and scores": (
        [HYPOTHESES, HYPOTHESES, file("scores", ["1"] * 4)],
        "invalid-input",
        "besides",
    ),
    "the same scores twice": (
        [HYPOTHESES, file("scores", ["1"] * 4, "a.tsv"), file("scores", ["1"] * 4, "b.tsv")],
        "invalid-input",
        "a.tsv and b.tsv both have 'scores' scores of 'bad'",
    ),
    "scores that are text": (
        [HYPOTHESES, file("scores", ["1", "two", "3", "4"], "comet:a.tsv")],
        "invalid-input",
        "comet:a.tsv, line 2",
    ),
    "no UTF-8": (
        [("hypotheses", ("good.en", b"a\nb\xff\n"))],
        "invalid-input",
        "good.en, line 2: invalid UTF-8",
    ),
    "UTF-16": (
        [("hypotheses", ("good.en", "a\n".encode("utf-16")))],
        "invalid-input",
        "good.en is UTF-16",
    ),
    "an empty file": ([("hypotheses", ("good.en", b""))], "invalid-input", "good.en is empty"),
}


@pytest.mark.parametrize(("parts", "kind", "message"), BAD_SYSTEMS.values(), ids=BAD_SYSTEMS)
def test_forms_of_systems_that_are_refused(service, make, stored, parts, kind, message):
    url = make()
    before = stored()
    document = problem(
        service.put(f"{url}/systems/bad", files=parts),
        400 if kind == "malformed-body" else 422,
        kind,
    )
    assert message in document["detail"]
    assert document["errors"][0]["system"] == "bad"
    assert stored() == before


def test_forms_and_bodies_of_other_kinds(service, make):
    url = make()
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    for method, address in (("POST", TESTSETS), ("PUT", f"{url}/systems/bad")):
        answer = service.request(method, address, content=b"garbage", headers=broken)
        problem(answer, 400, "malformed-body")
        packed_form = {**broken, "Content-Encoding": "gzip"}
        for headers in (packed, packed_form, {"Content-Type": "application/xml"}):
            answer = service.request(method, address, content=b"{}", headers=headers)
            problem(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_a_name_is_no_part_of_the_file(service, make, kind):
    refused = service.put(f"{make()}/systems/a%2Fb", content=b"x\n", headers={"Content-Type": kind})
    (error,) = problem(refused, 422, "invalid-input")["errors"]
    assert error["field"] == "name"
    assert error["message"].startswith("The system name 'a/b' contains '/'")


def test_a_bomb_stays_small(serve):
    small = serve(Settings(max_text_bytes=1000))
    bomb = gzip.compress(b"a\n" * 10**6)
    parts = [("references", ("bomb.gz", bomb)), NAMED]
    document = problem(small.post(TESTSETS, files=parts), 413, "limit-exceeded")
    assert (document["limit"], document["errors"][0]["field"]) == (
        "max_text_bytes",
        "references[0]",
    )
    body = {"name": "bombs", "references": [REFERENCE], **SETTINGS, "replicas": 2}
    url = small.post(TESTSETS, json=body).headers["location"]
    outputs = [HYPOTHESES, ("hypotheses", ("bomb.gz", bomb))]
    answer = small.put(f"{url}/systems/bad", files=outputs)
    document = problem(answer, 413, "limit-exceeded")
    assert document["errors"][0]["field"] == "hypotheses[1]"
    assert small.get(url).json()["systems"] == 0


def test_replicas_on_the_command_line(service, tmp_path, capsys):
    files = {"ref": REFERENCE, "a1": RUNS["good"][0], "a2": RUNS["good"][1]}
    files |= {"b1": RUNS["fair"][0], "b2": RUNS["fair"][1]}
    paths = {name: str(tmp_path / f"{name}.txt") for name in files}
    for name, lines in files.items():
        Path(paths[name]).write_bytes(text(lines))
    server = ["--server", str(service.base_url)]

    def sigtest(*words: str, status: int = 0) -> str:
        assert main([*words, *server]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    create = ["testset", "create", "-r", paths["ref"], "--name", "runs", "--resamples", "99"]
    made = sigtest(*create, "--replicas", "2").strip()
    assert "replicas: 2" in sigtest("testset", "show", made)
    first = f"a={paths['a1']},{paths['a2']}"
    second = f"b={paths['b1']},{paths['b2']}"
    assert "a: measured" in sigtest(
        "submit", made, "--replicas", first, "--replicas", second, "--wait"
    )
    shown = json.loads(sigtest("leaderboard", made, "--format", "json"))
    systems = [{"name": "a", "replicas": RUNS["good"]}, {"name": "b", "replicas": RUNS["fair"]}]
    body = {"references": [REFERENCE], "systems": systems, "resamples": 99, "family": 64}
    expected = json.loads(rendered("json", compare(parse_comparison(body))))
    assert (shown["systems"], shown["pairs"]) == (expected["systems"], expected["pairs"])
    assert "brings no replicas" in sigtest("submit", made, paths["a1"], status=2)
    assert "NAME=FILE,FILE" in sigtest("submit", made, "--replicas", paths["a1"], status=2)
    assert "whole number" in sigtest(*create, "--replicas", "some", status=2)
