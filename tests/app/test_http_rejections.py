"""Bad input: one clear problem document each, and nothing is stored."""

import asyncio
import errno
import gzip
import json
import tempfile
from math import inf, nan
from typing import Any

import pytest
from exchange import COMPARISONS, problem, submit

from app.main import Server, create_app
from app.settings import Settings
from sigtest.kinds.comparisons import Comparisons
from workers.questions import Questions

JSON = {"Content-Type": "application/json"}
NAMES = [
    "../etc/passwd",
    "a/b",
    'a"b',
    "a'b",
    "<b>",
    "a\nb",
    "a\x00b",
    "a\x1bb",
    "",
    " a",
    "..",
    "x" * 201,
]

Change = dict[str, Any]


def second(**fields: Any) -> Change:
    """A change of the second system."""
    return {"second": fields}


CHANGES: dict[str, tuple[Change, str, dict[str, Any]]] = {
    "unequal line counts": (
        second(hypotheses=["a", "b"]),
        "length-mismatch",
        {
            "system": "B",
            "field": "systems[1].hypotheses",
            "message": "System 'B' has 2 lines of hypotheses, the test set has 3",
        },
    ),
    "unequal references": (
        {"references": [["a", "b", "c"], ["a", "b"]]},
        "length-mismatch",
        {"field": "references[1]"},
    ),
    "unequal documents": ({"documents": ["d"]}, "length-mismatch", {"field": "documents"}),
    "zero segments": (
        {"references": [[]], "systems": [{"name": n, "hypotheses": []} for n in "AB"]},
        "invalid-input",
        {"message": "zero segments"},
    ),
    "no references": ({"references": []}, "invalid-input", {"field": "references"}),
    "no systems": ({"systems": None}, "invalid-input", {"field": "systems"}),
    "systems are no list": ({"systems": "AB"}, "invalid-input", {"field": "systems"}),
    "a system is no object": ({"systems": ["A", "B"]}, "invalid-input", {"field": "systems[0]"}),
    "duplicate names": (second(name="A"), "invalid-input", {"system": "A"}),
    "no name": (second(name=None), "invalid-input", {"field": "systems[1].name"}),
    "hypotheses are numbers": (
        second(hypotheses=["a", 2, "c"]),
        "invalid-input",
        {"field": "systems[1].hypotheses[1]", "system": "B", "line": 2},
    ),
    "hypotheses are text": (
        second(hypotheses="abc"),
        "invalid-input",
        {"field": "systems[1].hypotheses"},
    ),
    "NUL": (
        second(hypotheses=["a", "b", "c\0"]),
        "invalid-input",
        {"field": "systems[1].hypotheses[2]", "system": "B", "line": 3, "message": "NUL"},
    ),
    "a line break": (
        second(hypotheses=["a", "b\nc", "d"]),
        "invalid-input",
        {"field": "systems[1].hypotheses[1]", "line": 2, "message": "line break"},
    ),
    "half a surrogate pair": (
        second(hypotheses=["a", "b", "\ud83d"]),
        "invalid-input",
        {"field": "systems[1].hypotheses[2]", "message": "surrogate"},
    ),
    "scores that are text": (
        second(scores={"x": ["1", "2", "3"]}),
        "invalid-input",
        {"field": "systems[1].scores.x", "system": "B"},
    ),
    "unknown field": ({"sed": 1}, "invalid-recipe", {"field": "sed", "message": "seed"}),
    "unknown field of a system": (
        second(hypothesis=[]),
        "invalid-recipe",
        {"field": "systems[1].hypothesis"},
    ),
    "unknown metric": ({"metrics": ["blue"]}, "invalid-recipe", {"message": "Did you mean 'bleu'"}),
    "unknown option": ({"metrics": ["bleu:x=1"]}, "invalid-recipe", {"field": "metrics"}),
    "unknown test": ({"tests": ["t"]}, "invalid-recipe", {"field": "tests"}),
    "unknown alternative": ({"alternative": "x"}, "invalid-recipe", {"field": "alternative"}),
    "unknown correction": ({"correction": "x"}, "invalid-recipe", {"field": "correction"}),
    "unknown baseline": ({"pairs": {"baseline": "Z"}}, "invalid-recipe", {"field": "pairs"}),
    "resamples 0": ({"resamples": 0}, "invalid-recipe", {"field": "resamples"}),
    "resamples negative": ({"resamples": -1}, "invalid-recipe", {"field": "resamples"}),
    "resamples above the limit": (
        {"resamples": 10**6},
        "invalid-recipe",
        {"field": "resamples", "message": "999,999"},
    ),
    "resamples that are text": ({"resamples": "many"}, "invalid-recipe", {"field": "resamples"}),
    "alpha 0": ({"alpha": 0}, "invalid-recipe", {"field": "alpha"}),
    "alpha NaN": ({"alpha": nan}, "invalid-recipe", {"field": "alpha"}),
    "alpha infinite": ({"alpha": -inf}, "invalid-recipe", {"field": "alpha"}),
    "title NaN": ({"title": nan}, "invalid-input", {"field": "title"}),
    "metadata NaN": ({"metadata": {"a": [nan]}}, "invalid-input", {"field": "metadata"}),
    "a score that is NaN": (
        second(scores={"x": [1, nan]}),
        "invalid-input",
        {"field": "systems[1].scores.x", "message": "segment 2: the 'x' score is not a finite"},
    ),
    "alpha 1": ({"alpha": 1}, "invalid-recipe", {"field": "alpha"}),
    "seed negative": ({"seed": -1}, "invalid-recipe", {"field": "seed"}),
    "seed true": ({"seed": True}, "invalid-recipe", {"field": "seed"}),
    "documents unknown": ({"unit": "document"}, "invalid-recipe", {"field": "unit"}),
    **{
        f"name {name[:20]!a}": (second(name=name), "invalid-input", {"field": "systems[1].name"})
        for name in NAMES
    },
}


@pytest.mark.parametrize(("change", "kind", "named"), CHANGES.values(), ids=CHANGES)
def test_json_is_refused(service, stored, body, change, kind, named):
    body["systems"][1].update(change.get("second", {}))
    body.update({name: value for name, value in change.items() if name != "second"})
    before = stored()

    response = service.post(COMPARISONS, content=json.dumps(body), headers=JSON)

    (error,) = problem(response, 422, kind)["errors"]
    assert named.pop("message", "") in error["message"]
    assert named.items() <= error.items()
    assert stored() == before


BODIES: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "malformed-body", "not JSON"),
    "no JSON": (b'{"seed": ', "malformed-body", "line 1, column 10"),
    "a list": (b"[]", "malformed-body", "object"),
    "too many digits": (b'{"seed": ' + b"1" * 5000 + b"}", "malformed-body", "too long"),
    "a field twice": (b'{"seed": 1, "seed": 2}', "malformed-body", "'seed' is given twice"),
    "too deep": (b"[" * 100_000, "malformed-body", "nested too deeply"),
    "UTF-16": ('{"seed": 1}'.encode("utf-16"), "malformed-body", "UTF-16"),
    "no UTF-8": (b'{"seed": "\xff"}', "malformed-body", "byte offset 10"),
    "a NUL byte": (b'{"seed": \0}', "malformed-body", "NUL byte at byte offset 9"),
}


@pytest.mark.parametrize(("content", "kind", "message"), BODIES.values(), ids=BODIES)
def test_bytes_are_refused(service, stored, content, kind, message):
    before = stored()
    response = service.post(COMPARISONS, content=content, headers=JSON)
    assert message in problem(response, 400 if kind == "malformed-body" else 422, kind)["detail"]
    assert stored() == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": "x", "seed": "y"},
        {"alpha": 7, "metrics": ["blu"]},
        {"unknown": 1, "other": 2, "resamples": -1},
        {"tests": ["x"], "references": 3},
        {"systems": 5, "unit": "word", "tags": 3},
        {"metrics": ["bleu", "bleu"], "documents": ["a"]},
        {"alpha": 7, "metrics": ["bleu", "bleu"], "documents": ["a"], "title": 3, "x": 1},
    ],
    ids=str,
)
def test_a_body_with_several_faults_names_all(service, body, wrong):
    response = service.post(COMPARISONS, json=body | wrong)
    assert response.status_code == 422
    named = [own["field"].partition("[")[0] for own in response.json()["errors"]]
    assert sorted(named) == sorted(wrong)


@pytest.mark.parametrize(
    ("wrong", "fits"),
    [
        ({"tests": ["max"]}, {"correction": "max_t"}),
        ({"resamples": 0}, {"family": 64, "correction": "bonferroni"}),
        ({"metrics": ["scores:of"]}, {"pairs": {"baseline": "A"}}),
        ({"unit": "documents"}, {"tests": ["matched_pairs"], "metrics": ["wer"]}),
    ],
    ids=str,
)
def test_what_would_fit_what_was_meant_is_not_named(service, body, wrong, fits):
    told = service.post(COMPARISONS, json=body | fits | wrong).json()
    assert {own["field"].partition("[")[0] for own in told["errors"]} == {*wrong}


def test_a_body_with_many_faults_is_read_a_few_times(service, body, monkeypatch):
    parse, read = Comparisons.parse, []
    monkeypatch.setattr(Comparisons, "parse", lambda *sent: read.append(0) or parse(*sent))
    wrong = {"alpha": 7, "tests": ["x"], "seed": "y", "unit": "z", "tags": 3, "expires": 5}
    wrong |= {
        "metrics": ["bleu", "bleu"],
        "pairs": {"baseline": "C"},
        "family": 1,
        "exact": 0,
        "labels": 1,
    }
    told = service.post(COMPARISONS, json=body | wrong).json()
    assert {own["field"].partition("[")[0] for own in told["errors"]} >= {*wrong} - {"pairs"}
    assert len(read) <= 3


def test_a_form_with_several_faults_names_all(service):
    request = json.dumps({"metrics": ["blu"], "alpha": 5, "resample": 9})
    parts = [REFERENCE, FIRST, ("systems", ("B.txt", b"a b\nc\n"))]
    told = service.post(COMPARISONS, files=parts, data={"request": request}).json()
    assert {own["field"] for own in told["errors"]} == {"metrics", "alpha", "resample"}


def test_of_thousands_of_unknown_fields_a_few_are_named(service, body):
    told = service.post(COMPARISONS, json=body | {f"x{i}": i for i in range(5000)}).json()
    assert len(told["errors"]) == 20


@pytest.mark.parametrize(
    ("method", "path", "wrong"),
    [
        ("POST", "/v1/comparisons", {"alpha": "x", "tags": 3}),
        ("POST", "/v1/human-evaluations", {"judgements": [], "alpha": "x", "title": 3}),
        ("POST", "/v1/testsets", {"name": "x", "seed": -1, "metadata": 3}),
        ("PATCH", f"/v1/testsets/{'0' * 32}", {"resamples": 0, "tags": 3}),
        ("PATCH", f"/v1/testsets/{'0' * 32}", {"title": 0, "tags": 3}),
        ("POST", "/v1/webhooks", {"url": "", "events": ["x"]}),
    ],
)
def test_a_fault_of_what_is_computed_and_one_of_what_is_written_are_named(
    service, body, method, path, wrong
):
    sent = body | wrong if path == COMPARISONS else wrong
    told = service.request(method, path, json=sent).json()
    assert told["status"] == 422
    named = {own["field"].partition("[")[0] for own in told["errors"]}
    assert named == {*wrong} - {"name"}


Part = tuple[str, tuple[str | None, bytes]]
REFERENCE: Part = ("references", ("ref.txt", b"a b\nc d\n"))
FIRST: Part = ("systems", ("A.txt", b"a b\nc d\n"))
SECOND: Part = ("systems", ("B.txt", b"a b\nc\n"))


def file(content: bytes, name: str = "B.txt") -> list[Part]:
    return [REFERENCE, FIRST, ("systems", (name, content))]


FORMS: dict[str, tuple[list[Part], str, str]] = {
    "empty file": (file(b""), "invalid-input", "B.txt is empty"),
    "unequal line counts": (
        file(b"a\n"),
        "length-mismatch",
        "B.txt has 1 line, but ref.txt has 2; every file needs one line a segment",
    ),
    "NUL byte": (file(b"a\nb\0c\n"), "invalid-input", "B.txt, line 2: NUL byte at byte offset 3"),
    "invalid UTF-8": (
        file(b"a\nb\xffc\n"),
        "invalid-input",
        "B.txt, line 2: invalid UTF-8 at byte offset 3",
    ),
    "UTF-16": (file("a\nb\n".encode("utf-16")), "invalid-input", "B.txt is UTF-16"),
    "half a gzip": (
        file(gzip.compress(b"a\nb\n" * 99)[:-9], "B.txt.gz"),
        "invalid-input",
        "B.txt.gz is not a whole gzip file",
    ),
    "damaged gzip": (
        file(gzip.compress(b"a\nb\n" * 99)[:-8] + b"\0" * 8, "B.txt.gz"),
        "invalid-input",
        "B.txt.gz is not a whole gzip file",
    ),
    "duplicate names": (file(b"a\nb\n", "A.en"), "invalid-input", "both named 'A'"),
    "no system": ([REFERENCE], "invalid-input", "at least one system"),
    "no references": ([FIRST, SECOND], "invalid-input", "At least one reference set"),
    "unknown part": ([*file(b"a\nb\n"), ("refs", (None, b"x"))], "invalid-input", "part 'refs'"),
    "systems no file": (
        [REFERENCE, FIRST, ("systems", (None, b"a\nb"))],
        "invalid-input",
        "as files",
    ),
    "texts twice": (
        [*file(b"a\nb\n"), ("request", (None, b'{"systems": []}'))],
        "invalid-input",
        "systems as files",
    ),
    "request no JSON": (
        [*file(b"a\nb\n"), ("request", (None, b"{"))],
        "malformed-body",
        "request is not JSON",
    ),
    "request with NaN": (
        [*file(b"a\nb\n"), ("request", (None, b'{"alpha": NaN}'))],
        "invalid-recipe",
        "not nan",
    ),
    "a request of two megabytes": (
        [*file(b"a\nb\n"), ("request", (None, b'{"title": "' + b"a" * 2**21 + b'"}'))],
        "invalid-input",
        "title",
    ),
    "request beyond a float": (
        [*file(b"a\nb\n"), ("request", (None, b'{"alpha": 1e999}'))],
        "invalid-recipe",
        "not inf",
    ),
    "unknown metric": (
        [*file(b"a\nb\n"), ("request", (None, b'{"metrics": ["x"]}'))],
        "invalid-recipe",
        "Unknown metric 'x'",
    ),
    "documents": (
        [*file(b"a\nb\n"), ("documents", ("d.txt", b"1\n"))],
        "length-mismatch",
        "d.txt has 1 line, but ref.txt has 2",
    ),
    **{
        f"name {name!a}": (file(b"a\nb\n", name), "invalid-input", "The system name")
        for name in ["../../B.txt", 'B"x.txt', "B<x>.txt", "B\nx.txt", "B\x07x.txt", "..", " B.txt"]
    },
}


@pytest.mark.parametrize(("parts", "kind", "message"), FORMS.values(), ids=FORMS)
def test_forms_are_refused(service, stored, parts, kind, message):
    before = stored()
    response = service.post(COMPARISONS, files=parts)
    assert message in problem(response, 400 if kind == "malformed-body" else 422, kind)["detail"]
    assert stored() == before


@pytest.mark.parametrize("content", [b"garbage", b"--x\r\n\r\n\r\n--x--"])
def test_broken_forms_are_refused(service, content):
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    response = service.post(COMPARISONS, content=content, headers=headers)
    problem(response, 400, "malformed-body")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_other_kinds_of_bodies_are_refused(service, headers):
    response = service.post(COMPARISONS, content=b"{}", headers=headers)
    problem(response, 415, "unsupported-media-type")


def test_a_problem_repeats_little_of_what_was_sent(service):
    content = json.dumps({"seed": "x" * 10**6, "systems": [], "references": [["a"]]})
    response = service.post(COMPARISONS, content=content, headers=JSON)
    assert response.status_code == 422
    assert len(response.content) < 4000


def test_unknown_routes_and_methods_are_problems(service):
    for path in ("/v1/nothing", COMPARISONS + "/"):
        told = problem(service.get(path), 404, "not-found")["detail"]
        assert told.startswith(f"There is nothing at {path};")
        for named in ("/", "/openapi.json"):
            assert f" {named} " in told
            assert service.get(named).status_code == 200
    response = service.put(COMPARISONS)
    told = problem(response, 405, "method-not-allowed")["detail"]
    assert told == f"{COMPARISONS} takes GET, HEAD, POST, not PUT."
    assert response.headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("limit=many", "limit: it must be a whole number, not 'many'."),
        ("limit=1.5", "limit: it must be a whole number, not '1.5'."),
        ("limit=%2B1", "limit: it must be a whole number, not '+1'."),
        ("limit=%201", "limit: it must be a whole number, not ' 1'."),
        (
            "status=done",
            "status: it must be 'queued', 'running', 'succeeded', 'failed' or "
            "'cancelled', not 'done'.",
        ),
        ("limit=0", "limit: it must be greater than or equal to 1, not '0'."),
    ],
)
def test_parameters_of_listings_say_what_they_take(service, query, wanted):
    told = problem(service.get(f"{COMPARISONS}?{query}"), 422, "invalid-parameter")
    assert told["detail"] == wanted


def test_a_level_that_is_no_number_is_told_so(service, body):
    url = submit(service, body).headers["location"]
    told = problem(service.get(f"{url}/report?alpha=5%25"), 422, "invalid-parameter")
    assert told["detail"] == "alpha: it must be a number, not '5%'."


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256])
def test_idempotency_keys_are_plain(service, body, key):
    headers = {"Idempotency-Key": key.encode()}
    response = service.post(COMPARISONS, json=body, headers=headers)
    (error,) = problem(response, 422, "invalid-parameter")["errors"]
    assert error["field"] == "Idempotency-Key"
    wanted = "1 to 255 letters, digits and signs of ASCII, without spaces"
    assert error["message"].startswith(f"it must be {wanted}, not ")


@pytest.mark.parametrize(
    "charset", ["punycode", "unicode_escape", "undefined", "UTF-7", '"utf-16"']
)
@pytest.mark.parametrize("path", [COMPARISONS, "/comparisons", "/v1/testsets"])
def test_a_form_in_another_charset_is_refused(service, path, charset):
    """Some of Python's codecs are for no texts, and fail in ways of their own."""
    part = b'--B\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"title": "\\ud800"}\r\n'
    headers = {"Content-Type": f"multipart/form-data; boundary=B; charset={charset}"}
    answer = service.post(path, content=part + b"--B--\r\n", headers=headers)
    problem(answer, 415, "unsupported-media-type")
    utf_8 = {"Content-Type": "multipart/form-data; boundary=B; charset=UTF-8"}
    assert service.post(path, content=part + b"--B--\r\n", headers=utf_8).status_code == 422


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OSError(errno.EMFILE, "Too many open files"), 503),
        (OSError(errno.ENOSPC, "No space left on device"), 503),
        (RuntimeError("can't start new thread"), 503),
        (MemoryError(), 503),
        (OSError(errno.ENOENT, "No such file"), 500),
        (RuntimeError("a fault"), 500),
    ],
)
def test_what_the_machine_is_short_of_is_no_fault_of_the_service(serve, monkeypatch, error, status):
    def short(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Questions, "listing", short)
    answer = serve(Settings()).get(COMPARISONS)
    assert ("retry-after" in answer.headers) == (status == 503)
    problem(answer, status, "unready" if status == 503 else "internal-error")


def test_a_place_for_large_forms_is_looked_for_before_files_run_out(serve, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    serve(Settings())
    assert tempfile.tempdir is not None


def test_connections_that_find_no_file_do_not_fill_the_log(caplog):
    server, loop = Server(create_app(Settings())), asyncio.new_event_loop()
    error = OSError(errno.EMFILE, "Too many open files")
    for _ in range(100):
        server.tell(loop, {"message": "socket.accept() out of system resource", "exception": error})
    (record,) = caplog.records
    assert "Too many open files" in record.getMessage()
    server.tell(loop, {"message": "a fault", "exception": RuntimeError("a fault")})
    assert [own.name for own in caplog.records] == ["app.main", "asyncio"]
    loop.close()
