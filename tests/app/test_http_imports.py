"""Archives in a form and test sets by name: what is computed, and what is refused and not kept."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from exchange import COMPARISONS, problem
from sentences import sentences

from app.settings import Settings
from workers.errors import SettingError

REQUEST = {"metrics": ["chrf"], "resamples": 199}
TEXT = b"the cat sat on the mat\nit is raining\nwe go home now\n"
XML = """<dataset id="x"><doc id="d1">
<src><p><seg id="1">a</seg><seg id="2">b</seg></p></src>
<ref translator="A"><p><seg id="1">the cat sat here</seg><seg id="2">it rains</seg></p></ref>
<hyp system="S1"><p><seg id="1">the cat sat</seg><seg id="2">it rains</seg></p></hyp>
<hyp system="S2"><p><seg id="1">a cat was here</seg><seg id="2">it is</seg></p></hyp>
</doc></dataset>"""

Part = tuple[str, tuple[str | None, bytes]]


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def linked() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("systems/x.en")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    return packed.getvalue()


def form(archive: bytes, name: str = "task.zip", **request: Any) -> list[Part]:
    asked = json.dumps(REQUEST | request).encode()
    return [("archive", (name, archive)), ("request", (None, asked))]


@pytest.fixture
def task(example: Path) -> dict[str, bytes]:
    found = [*example.glob("reference*"), *example.glob("systems/*"), example / "documents.txt"]
    return {str(file.relative_to(example)): file.read_bytes() for file in found}


def test_an_archive_is_the_same_comparison_as_its_files(service, task):
    one = service.post(COMPARISONS, files=form(zipped(task)), headers={"Prefer": "wait=60"})
    parts: list[Part] = [("request", (None, json.dumps(REQUEST).encode()))]
    kinds = {"reference.en": "references", "documents.txt": "documents"}
    for name, data in sorted(task.items()):
        parts.append((kinds.get(name, "systems"), (Path(name).name, data)))
    other = service.post(COMPARISONS, files=parts)
    assert one.json()["status"] == "succeeded"
    assert one.json()["systems"] == ["aspen", "birch", "cedar", "dogwood", "elm"]
    assert other.json()["id"] == one.json()["id"]


def test_a_form_with_runs_has_the_variances_of_items_and_runs(service):
    runs = {"a": [[1, 0, 1, 1], [1, 1, 0, 1]], "b": [[0, 0, 1, 0], [0, 1, 1, 0]]}
    rows = [f"q{i},{name},{r},{score}" for name, table in runs.items()
            for r, run in enumerate(table) for i, score in enumerate(run)]  # fmt: skip
    parts: list[Part] = [
        ("scores", ("right.csv", "\n".join(["id,system,run,score", *rows]).encode())),
        ("request", (None, b'{"resamples": 99}')),
    ]
    asked = service.post(COMPARISONS, files=parts, headers={"Prefer": "wait=60"})
    assert asked.json()["status"] == "succeeded", asked.text
    report = service.get(asked.headers["location"] + "/report").json()
    for system in report["systems"]:
        table = np.array(runs[system["name"]])
        (score,) = system["scores"].values()
        assert score["runs"] == {
            "count": 2,
            "item_variance": pytest.approx(np.var(table.mean(axis=0), ddof=1) / 4),
            "run_variance": pytest.approx(np.var(table.mean(axis=1), ddof=1) / 2),
        }


def test_wmt_xml_is_an_archive_too(service):
    wait = {"Prefer": "wait=60"}  # the tests below look at what is stored
    answer = service.post(COMPARISONS, files=form(XML.encode(), "newstest.xml"), headers=wait)
    assert answer.json()["status"] == "succeeded"
    assert answer.json()["systems"] == ["S1", "S2"]


GOOD = {"reference.en": TEXT, "systems/a.en": TEXT, "systems/b.en": TEXT[:-4] + b"\n"}
FORMS: dict[str, tuple[list[Part], str]] = {
    "a path out": (form(zipped(GOOD | {"../x": TEXT})), "'../x' leads out of the archive"),
    "a link": (form(linked(), "task.tar.gz"), "no plain file"),
    "a DTD": (form(b"<!DOCTYPE dataset><dataset/>", "x.xml"), "x.xml, line 1: a document type"),
    "no matching files": (form(zipped({"a": TEXT})), "no matching files"),
    "no archive": (
        form(TEXT, "task.txt"),
        "does not say what it is; give it as the reference (in"
        " the shell -r FILE, in a form the part references)",
    ),
    "unequal": (form(zipped(GOOD | {"systems/c.en": b"x\n"})), "systems/c.en has 1 line, but"),
    "hostile name": (form(zipped(GOOD | {"systems/<b>.en": TEXT})), "The system name '<b>'"),
    "documents": (form(zipped(GOOD | {"documents": b"d\n"})), "documents has 1 line, but"),
    "two archives": (form(zipped(GOOD)) * 2, "one request part"),
    "another output": (
        [*form(zipped(GOOD)), ("systems", ("a.txt", TEXT.upper()))],
        "both have an output of 'a', and they differ",
    ),
    "texts in request": (form(zipped(GOOD), references=[["a"]]), "not in request"),
}


@pytest.mark.parametrize(("parts", "message"), FORMS.values(), ids=FORMS)
def test_archives_are_refused_with_one_problem(service, stored, parts, message):
    before = stored()
    response = service.post(COMPARISONS, files=parts)
    document = problem(response, 422, response.json()["type"].rpartition(":")[2])
    assert message in document["detail"]
    assert stored() == before


@pytest.mark.parametrize(
    ("settings", "archive"),
    [
        ({"max_archive_files": 2}, zipped(GOOD)),
        ({"max_archive_ratio": 20}, zipped({"systems/a.en": b"\n" * 2**22})),
        ({"max_text_bytes": 100}, zipped(GOOD)),
        ({"max_segments": 2}, zipped(GOOD)),
        ({"max_systems": 1}, zipped(GOOD)),
    ],
)
def test_archives_have_limits(serve, stored, settings, archive):
    before = stored()
    response = serve(Settings(**settings)).post(COMPARISONS, files=form(archive))  # type: ignore[arg-type]
    assert problem(response, 413, "limit-exceeded")["limit"] in settings
    assert stored() == before


def test_built_in_test_sets_need_permission(service, body):
    del body["references"]
    body["builtin"] = "wmt17/en-de"
    document = problem(service.post(COMPARISONS, json=body), 422, "unavailable")
    assert "SIGTEST_ALLOW_DOWNLOADS=1" in document["detail"]
    body["builtin"] = "wmt17/en-xx"
    problem(service.post(COMPARISONS, json=body), 422, "invalid-input")


def test_built_in_test_sets_are_references(serve, body, monkeypatch, tmp_path):
    from sacrebleu.dataset import DATASETS

    lines = body.pop("references")[0]
    file = tmp_path / "reference"
    file.write_text("".join(f"{line}\n" for line in lines))
    dataset = type(DATASETS["wmt17"])
    monkeypatch.setattr(dataset, "get_reference_files", lambda self, pair: [str(file)])
    monkeypatch.setattr(dataset, "get_files", lambda self, pair: [str(file), str(file)])
    monkeypatch.setattr(dataset, "fieldnames", lambda self, pair: ["src", "ref"])
    client = serve(Settings(allow_downloads=True))
    answer = client.post(COMPARISONS, json=body | {"builtin": "wmt17/en-de"})
    assert (
        answer.json()["id"]
        == client.post(COMPARISONS, json=body | {"references": [lines]}).json()["id"]
    )
    twice = client.post(COMPARISONS, json=body | {"builtin": "wmt17/en-de", "references": [lines]})
    assert "give one" in problem(twice, 422, "invalid-input")["detail"]


def test_the_switch_is_0_or_1():
    assert Settings.model_validate({"SIGTEST_ALLOW_DOWNLOADS": "1"}).allow_downloads
    assert not Settings.model_validate({}).allow_downloads
    with pytest.raises(SettingError, match="0 or 1"):
        Settings.model_validate({"SIGTEST_ALLOW_DOWNLOADS": "yes"})


def test_files_go_with_an_archive(service):
    parts = [
        *form(zipped(GOOD)),
        ("documents", ("d.txt", b"x\nx\ny\n")),
        ("systems", ("c.en", TEXT)),
    ]
    answer = service.post(COMPARISONS, files=parts, headers={"Prefer": "wait=60"}).json()
    assert answer["systems"] == ["a", "b", "c"]
    assert service.get(answer["links"]["report"]).json()["testset"]["documents"] == 2


SAMPLES = {
    name: "".join(
        json.dumps({"doc_id": i, "doc": {}, "target": "x", "resps": [["x"]], "arguments": {},
                    "filtered_resps": ["x"], "acc": value}) + "\n"
        for i, value in enumerate(right)
    ).encode()
    for name, right in (("a", [1, 1, 0, 1]), ("b", [0, 1, 0, 0]))
}  # fmt: skip
SGML = (
    '<tstset setid="s" srclang="a" trglang="b"><doc docid="d" sysid="inside">\n'
    + "".join(
        f'<seg id="{i}">{line}</seg>\n' for i, line in enumerate(TEXT.decode().split("\n"), 1)
    )
    + "</doc></tstset>\n"
).encode()


def told(service: httpx.Client, parts: list[Part]) -> dict[str, Any]:
    answer = service.post(COMPARISONS, files=parts, headers={"Prefer": "wait=60"})
    assert answer.status_code == 200, answer.text
    return dict(service.get(answer.json()["links"]["report"]).raise_for_status().json())


def test_every_file_field_takes_any_format(service):
    asked = ("request", (None, b'{"resamples": 99}'))
    found = told(service, [("systems", (f"{n}.jsonl", SAMPLES[n])) for n in SAMPLES] + [asked])
    assert list(found["metrics"]) == ["acc"]
    assert [s["scores"]["acc"]["score"] for s in found["systems"]] == [0.75, 0.25]
    named = [("scores", (f"acc:{n}.jsonl", SAMPLES[n])) for n in SAMPLES]
    assert [s["name"] for s in told(service, [*named, asked])["systems"]] == ["a", "b"]
    plain = [("references", ("r.txt", TEXT)), ("systems", ("a.txt", TEXT.upper())), asked]
    marked = told(
        service, [*plain, ("systems", ("b.sgm", SGML.replace(b'\n<seg id="4"></seg>', b"")))]
    )
    assert [s["name"] for s in marked["systems"]] == ["a", "inside"]
    assert marked["systems"][1]["scores"]["bleu"]["score"] == pytest.approx(100)


def test_what_is_no_text_is_never_scored(service, stored):
    before = stored()
    for content in (
        b"<html>\n<p>a</p>\n<p>b</p>\n</html>\n",
        b'{"a": 1}',
        b"system,BLEU\na,3\nb,2\n",
    ):
        for packed in (content, gzip.compress(content)):
            parts = [("references", ("r.txt", TEXT)), ("systems", ("a.txt", TEXT)),
                     ("systems", ("b.txt", packed))]  # fmt: skip
            (error,) = problem(service.post(COMPARISONS, files=parts), 422, "invalid-input")[
                "errors"
            ]
            assert error["field"] == "systems[1]"
            assert error["message"].startswith("b.txt ")
    assert stored() == before


def test_another_way_with_missing_segments_is_told_as_in_the_shell(service):
    asked = ("request", (None, b'{"missing": "dorp"}'))
    answer = service.post(COMPARISONS, files=[("archive", ("a.csv", b"id,score\n1,2\n")), asked])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "missing"
    assert "Unknown way with missing segments 'dorp'" in answer.json()["detail"]


def test_columns_are_systems_where_that_is_asked(service):
    rows = "".join(f"q{i},{i % 2},{i % 3}\n" for i in range(6))
    table = ("scores", ("wide.csv", b"id,ours,theirs\n" + rows.encode()))
    found = told(service, [table, ("request", (None, b'{"columns": "systems", "resamples": 99}'))])
    assert [system["name"] for system in found["systems"]] == ["ours", "theirs"]
    refused = service.post(COMPARISONS, files=[table, ("request", (None, b'{"columns": "rows"}'))])
    assert refused.json()["errors"][0]["field"] == "columns"


def test_missing_segments_are_dropped_where_that_is_asked(service):
    tables = [("scores", ("x:a.csv", b"id,score\nq1,1\nq2,0\nq3,1\n")),
              ("scores", ("x:b.csv", b"id,score\nq3,0\nq2,0\n"))]  # fmt: skip
    assert (
        "'q1'" in problem(service.post(COMPARISONS, files=tables), 422, "invalid-input")["detail"]
    )
    found = told(service, [*tables, ("request", (None, b'{"missing": "drop", "resamples": 99}'))])
    assert found["testset"]["segments"] == 2
    assert any("dropped" in warning and "'q1'" in warning for warning in sentences(found))


def test_numbers_are_labels_where_all_metrics_count_labels(service):
    files = [
        ("references", ("gold.txt", b"1\n0\n1\n1\n")),
        ("systems", ("a.txt", b"1\n0\n0\n1\n")),
        ("systems", ("b.txt", b"0\n0\n0\n1\n")),
    ]
    asked = ("request", (None, b'{"metrics": ["accuracy"], "resamples": 99}'))
    scores = {own["name"]: own["scores"] for own in told(service, [*files, asked])["systems"]}
    assert scores["a"]["accuracy"]["score"] == pytest.approx(3 / 4)
    assert scores["b"]["accuracy"]["score"] == pytest.approx(2 / 4)
    as_text = ("request", (None, b'{"metrics": ["accuracy", "bleu"]}'))
    detail = problem(service.post(COMPARISONS, files=[*files, as_text]), 422, "invalid-input")
    assert "gold.txt has no text" in detail["detail"]
