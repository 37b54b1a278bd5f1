"""Every kind of question that is computed whole travels as a comparison does."""

import json
import zipfile
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pytest
import scored
import studied
from exchange import ROOT, check, problem, safe_picture

import sigtest
from app.settings import Settings
from sigtest.client import Client
from sigtest.kinds import KINDS
from sigtest.render.formats import FORMATS
from sigtest.render.records import render_json

CAMPAIGN = ROOT / "examples" / "campaign" / "judgements.tsv"


@dataclass(frozen=True)
class Sample:
    """A request of a kind.

    Attributes:
        path: Of the kind.
        body: As JSON.
        schema: Of its report.
        systems: How many it is about.
        bad: A request that is refused.
        field: What that refusal names.
    """

    path: str
    body: dict[str, Any]
    schema: str
    systems: int
    bad: dict[str, Any]
    field: str


def judgements() -> list[dict[str, Any]]:
    head, *rows = (line.split("\t") for line in CAMPAIGN.read_text().splitlines())
    named = [dict(zip(head, row, strict=True)) for row in rows[:1200]]
    return [{**row, "score": int(row["score"]), "seconds": float(row["seconds"])} for row in named]


SAMPLES = [
    Sample(
        "human-evaluations",
        {"judgements": judgements(), "resamples": 99},
        "HumanReport",
        5,
        {"judgements": []},
        "judgements",
    ),
    Sample(
        "metric-evaluations",
        scored.request(resamples=99),
        "MetaReport",
        6,
        {**scored.request(), "levels": "segment"},
        "levels",
    ),
    Sample(
        "test-accuracy",
        studied.request(),
        "AccuracyReport",
        4,
        studied.request(alphas=[2]),
        "alphas[0]",
    ),
    Sample(
        "plans",
        {"comparison": studied.comparison(), "difference": 1.5},
        "PlanReport",
        4,
        {"comparison": studied.comparison(), "difference": 0},
        "difference",
    ),
    Sample(
        "sequential-comparisons",
        {
            "scale": [0, 1],
            "scores": {"A": [1, 1, 0, 1] * 20, "B": [1, 0, 0, 0] * 20, "C": [0, None] * 40},
        },
        "SequentialReport",
        3,
        {"scores": {"A": [1, 0], "B": [0, 1]}, "alpha": 2},
        "alpha",
    ),
]
EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)


def answered(service: httpx.Client, sample: Sample) -> dict[str, Any]:
    """A question that has finished."""
    answer = service.post(f"/v1/{sample.path}", json=sample.body, headers={"Prefer": "wait=60"})
    found: dict[str, Any] = answer.raise_for_status().json()
    assert found["status"] == "succeeded", found
    return found


@EVERY
def test_followed_listed_and_deleted(service, sample, stored):
    body = {**sample.body, **({"alphas": [0.04]} if "human_alpha" in sample.body else {})}
    left = service.post(f"/v1/{sample.path}", json=body, headers={"Prefer": "wait=60"})
    service.delete(left.headers["location"])  # other tests may have asked it
    before = stored()
    posted = service.post(f"/v1/{sample.path}", json=body, headers={"Idempotency-Key": sample.path})
    assert posted.status_code == 202
    url = posted.headers["location"]
    check(service, "QuestionBody", posted.json())
    with service.stream("GET", f"{url}/events") as events:
        told = "".join(events.iter_text())
    assert '"status":"succeeded"' in told.rpartition("event: finished")[2]
    status = service.get(url)
    assert status.json()["kind"] == sample.path
    assert len(status.json()["systems"]) == sample.systems
    held = {"If-None-Match": status.headers["etag"]}
    assert service.get(url, headers=held).status_code == 304
    again = service.post(f"/v1/{sample.path}", json=body)
    assert (again.status_code, again.json()["id"]) == (200, posted.json()["id"])
    listed = service.get(f"/v1/{sample.path}").raise_for_status().json()[sample.path]
    assert posted.json()["id"] in [entry["id"] for entry in listed]
    assert service.get(f"/v1/comparisons/{posted.json()['id']}").status_code == 404
    assert service.delete(url).status_code == 204
    assert service.get(url).status_code == 410
    assert service.get(f"{url}/report").status_code == 410
    kept = {name.split(":")[1] for name in stored() - before}
    assert kept <= {"gone", "idempotency"}, kept  # that it was there, and no content


@EVERY
def test_the_report_is_the_one_of_the_library_in_every_format(service, sample):
    url = answered(service, sample)["links"]["self"]
    kind = KINDS[sample.path]
    presented = kind.present(kind.compute(kind.parse(sample.body)))
    for name, form in FORMATS.items():
        found = service.get(f"{url}/report", params={"format": name}).raise_for_status()
        assert found.text == form.render(presented), name
        assert found.headers["content-type"].startswith(form.media_type)
        accepted = service.get(f"{url}/report", headers={"Accept": form.media_type})
        assert accepted.content == found.content
        held = {"If-None-Match": found.headers["etag"]}
        unchanged = service.get(f"{url}/report", params={"format": name}, headers=held)
        assert unchanged.status_code == 304
    report = service.get(f"{url}/report").json()
    check(service, sample.schema, report)
    assert render_json(presented) == service.get(f"{url}/report").text
    problem(service.get(f"{url}/report", params={"format": "pdf"}), 406, "not-acceptable")


@EVERY
def test_every_picture_that_is_linked_is_drawn(service, sample):
    question = answered(service, sample)
    plots = question["links"]["plots"]
    kind = KINDS[sample.path]
    report = kind.read(service.get(question["links"]["report"]).json())
    assert list(plots) == list(kind.drawable(report))
    assert plots
    for name, url in plots.items():
        safe_picture(service, url, {})
        assert service.get(url).text == kind.pictures[name].draw(report, {})
    wrong = service.get(f"{question['links']['self']}/plots/matrix.svg")
    assert "picture" in problem(wrong, 422, "invalid-recipe")["detail"]


@EVERY
def test_pictures_refuse_choices_that_they_do_not_show(service, sample):
    unfit = {
        "human-evaluations": ("alpha", "metric", "testset", "a", "width", "correction"),
        "metric-evaluations": ("alpha", "criterion", "a", "title", "correction"),
        "test-accuracy": ("metric", "test", "criterion", "omit", "correction"),
        "plans": ("metric", "alpha", "criterion", "width", "correction"),
        "sequential-comparisons": ("metric", "alpha", "a", "width", "correction"),
    }[sample.path]
    for url in answered(service, sample)["links"]["plots"].values():
        for part in unfit:
            refused = problem(service.get(url, params={part: "0.01"}), 422, "invalid-recipe")
            assert [error["field"] for error in refused["errors"]] == [part]
            assert f"takes no {part}; it takes " in refused["detail"]


@pytest.mark.parametrize(
    ("path", "place", "value", "field"),
    [
        ("human-evaluations", ("judgements", 1, "system"), "a\n", "judgements[1].system"),
        ("human-evaluations", ("judgements", 1, "system"), 0.5, "judgements[1].system"),
        ("human-evaluations", ("judgements", 2, "annotator"), "\0", "judgements[2].annotator"),
        ("human-evaluations", ("judgements", 2, "segment"), "x" * 201, "judgements[2].segment"),
        ("metric-evaluations", ("human", "scores", "system", ""), 1, "human.scores.system"),
        ("metric-evaluations", ("metrics", "comet", "system", "a/b"), 1, "metrics.comet.system"),
        ("metric-evaluations", ("metrics", ""), {}, "metrics"),
        ("test-accuracy", ("human", "pairs", 1, "a"), None, "human.pairs[1].a"),
        ("test-accuracy", ("human", "pairs", 1, "b"), " ", "human.pairs[1].b"),
        ("plans", ("comparison", "systems", "B", "scores", ""), [1],
         "comparison.systems[1].scores"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_used_are_found_where_they_stand(service, path, place, value, field):
    example, *_ = KINDS[path].examples.values()
    body = deepcopy(example["value"])
    part = body
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    refused = problem(service.post(f"/v1/{path}", json=body), 422, "invalid-input")
    assert [error["field"] for error in refused["errors"]] == [field]


@pytest.mark.parametrize("path", KINDS)
def test_an_unknown_field_is_told_every_field_that_there_is(service, path):
    document = service.get("/openapi.json").json()
    content = document["paths"][f"/v1/{path}"]["post"]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    named = [
        document["components"]["schemas"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in schema.get("anyOf", [schema])
    ]
    refused = service.post(f"/v1/{path}", json={"titel": "Nightly run"})
    detail = problem(refused, 422, "invalid-recipe")["detail"]
    assert detail.endswith("Did you mean 'title'?")
    told = detail.partition("choose one of ")[2].partition(". Did you mean")[0].split(", ")
    assert set(told) == {name for one in named for name in one["properties"]}


@EVERY
def test_what_cannot_be_asked_is_one_problem_and_nothing_is_stored(service, sample, stored):
    before = stored()
    url = f"/v1/{sample.path}"
    refused = service.post(url, json=sample.bad)
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == sample.field
    problem(service.post(url, content=b"{", headers={"Content-Type": "application/json"}), 400,
            "malformed-body")  # fmt: skip
    problem(service.post(url, content=b"x", headers={"Content-Type": "text/csv"}), 415,
            "unsupported-media-type")  # fmt: skip
    assert stored() == before


@EVERY
def test_python_asks_it_too(service, sample):
    with Client(str(service.base_url)) as client:
        found = client.run(sample.body, kind=sample.path)
        report = json.loads(client.report(found, kind=sample.path))
    assert report["signature"]
    assert client.url


def test_pictures_show_what_is_asked_for(service):
    meta, accuracy = (answered(service, sample)["links"]["plots"] for sample in SAMPLES[1:3])
    assert "TER, turned round" in service.get(meta["scatter"], params={"metric": "TER"}).text
    assert "alpha 0.01" in service.get(accuracy["accuracy"], params={"alpha": "0.01"}).text
    refused = service.get(accuracy["grid"], params={"alpha": "0.5"})
    assert "Unknown level" in problem(refused, 422, "invalid-recipe")["detail"]


def test_judgements_come_as_files(service, data):
    folder = data / "wmt22.cs-en"
    judged = folder / "human" / "ad-csen-good-stnd.csv"
    texts = {
        "references": (folder / "reference.B.en").read_text().split("\n")[:-1],
        "systems": {
            path.stem: path.read_text().split("\n")[:-1]
            for path in sorted((folder / "systems").glob("*.en"))
        },
        "resamples": 99,
    }
    body = json.dumps({"comparison": texts, "alphas": [0.05]})
    form = {"judgements": (judged.name, judged.read_bytes()), "request": ("request.json", body)}
    answer = service.post("/v1/test-accuracy", files=form, headers={"Prefer": "wait=60"})
    assert answer.is_success, answer.text
    report = service.get(answer.json()["links"]["report"]).json()
    assert [row["n"] for row in report["rows"]] == [55]
    assert report["human"][0]["ties"] == 18  # of the published rank-sum matrix


def test_columns_of_a_file_race_as_systems(service):
    rows = [f"q{i},{int(i % 10 < 9)},{int(i % 10 < 4)}" for i in range(60)]
    table = "\n".join(["item,new,old", *rows]).encode()
    form = {"archive": ("running.csv", table), "request": ("request.json", '{"scale": [0, 1]}')}
    answer = service.post("/v1/sequential-comparisons", files=form, headers={"Prefer": "wait=60"})
    assert answer.is_success, answer.text
    report = service.get(answer.json()["links"]["report"]).json()
    assert (report["leader"], report["pairs"][0]["decided"]) == ("new", "a")


def test_later_questions_name_earlier_ones(service):
    judged = answered(service, Sample("human-evaluations", people_body(), "", 4, {}, ""))
    body = studied.comparison(tests=["approximate_randomization"], alternative="greater")
    compared = answered(service, Sample("comparisons", body, "", 4, {}, ""))
    comparison = service.get(compared["links"]["report"]).json()
    study = ask(
        service, "test-accuracy",
        {"human": {"evaluation": judged["id"]}, "comparison": {"id": compared["id"]}},
    )  # fmt: skip
    whole = ask(service, "test-accuracy", {"human": people_body(), "comparison": body})
    assert study["rows"] == whole["rows"]
    assert study["human"] == whole["human"]
    meta = ask(
        service, "metric-evaluations",
        {"human": {"evaluation": judged["id"]}, "metrics": {"comparison": compared["id"]}},
    )  # fmt: skip
    given = {
        label: {"system": {s["name"]: s["scores"][label]["score"] for s in comparison["systems"]}}
        for label in ("bleu", "chrf")
    }
    again = ask(service, "metric-evaluations", {"human": people_body(), "metrics": given})
    assert [m["pearson"] for m in meta["metrics"]] == [m["pearson"] for m in again["metrics"]]
    assert {m["label"] for m in meta["metrics"]} == {"bleu", "chrf"}
    assert all(m["soft_accuracy"] for m in meta["metrics"])  # by the comparison's p-values
    sets = {"x": {"human": {"evaluation": judged["id"]}, "metrics": {"comparison": compared["id"]}}}
    one = ask(service, "metric-evaluations", {"sets": sets})
    assert [m["pearson"] for m in one["sets"][0]["metrics"]] == [
        m["pearson"] for m in meta["metrics"]
    ]


def test_a_race_names_what_has_finished(service):
    body = studied.comparison()
    compared = answered(service, Sample("comparisons", body, "", 4, {}, ""))
    asked = {"metric": "chrf", "scale": [0, 100]}
    race = ask(service, "sequential-comparisons", {"comparison": {"id": compared["id"]}, **asked})
    assert race == ask(service, "sequential-comparisons", {"comparison": body, **asked})
    assert race["items"] == 30
    judged = answered(service, SAMPLES[0])
    named = {"evaluation": judged["id"]}
    people = ask(service, "sequential-comparisons", {"human": named})
    # an evaluation standardises its scores where nothing else is asked for; rows are as given
    rows = {"judgements": judgements(), "resamples": 99, "standardise": "annotator"}
    assert people == ask(service, "sequential-comparisons", {"human": rows})
    assert len(people["systems"]) == 5


def test_a_plan_names_its_pilot(service):
    body = studied.comparison()
    compared = answered(service, Sample("comparisons", body, "", 4, {}, ""))
    pilot = service.get(compared["links"]["report"]).json()
    asked = {"metric": "chrf", "a": "Birch", "b": "Aspen", "corrected": True}
    plan = ask(service, "plans", {"comparison": {"id": compared["id"]}, **asked})
    assert plan == ask(service, "plans", {"comparison": body, **asked})
    (pair,) = plan["pairs"]
    row = next(p for p in pilot["pairs"] if (p["a"], p["metric"]) == ("Aspen", "chrf"))
    assert (pair["a"], pair["b"]) == (row["a"], row["b"]) == ("Aspen", "Birch")
    own = next(size for size in pair["sizes"] if size["units"] == 30)
    assert own["detectable"] == row["detectable"][1]


def test_named_questions_must_exist_and_be_of_their_kind(service):
    judged = answered(service, Sample("human-evaluations", people_body(), "", 4, {}, ""))
    for wrong in ("0" * 32, "../x", judged["id"][:-1]):
        body = {"human": {"evaluation": wrong}, "comparison": studied.comparison()}
        found = problem(service.post("/v1/test-accuracy", json=body), 404, "not-found")
        assert found["errors"][0]["field"] == "human.evaluation"
    body = {"human": {"pairs": studied.people()}, "comparison": {"id": judged["id"]}}
    problem(service.post("/v1/test-accuracy", json=body), 404, "not-found")
    more = {"human": {"evaluation": judged["id"], "alpha": 0.1}, "comparison": studied.comparison()}
    refused = problem(service.post("/v1/test-accuracy", json=more), 422, "invalid-input")
    assert "leave others out" in refused["detail"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("plans", {"comparison": {"id": 5}}, "comparison.id"),
        ("test-accuracy", {"human": {"evaluation": ["x"]}}, "human.evaluation"),
        ("metric-evaluations", {"metrics": {"comparison": True}}, "metrics.comparison"),
        (
            "metric-evaluations",
            {"sets": {"he-en": {"human": {"evaluation": 5}, "metrics": {}}}},
            "sets.he-en.human.evaluation",
        ),
    ],
)
def test_what_is_no_id_is_refused_where_it_stands(service, path, body, field):
    refused = problem(service.post(f"/v1/{path}", json=body), 422, "invalid-input")
    assert [error["field"] for error in refused["errors"]] == [field]
    assert f"{field} must be the id of a " in refused["detail"]


def test_metrics_of_several_test_sets_are_refused(service):
    one = studied.comparison()
    sets = {name: {part: one[part] for part in ("references", "systems")} for name in "ab"}
    asked = {"testsets": sets, "metrics": ["chrf"], "resamples": 99}
    several = answered(service, Sample("comparisons", asked, "", 4, {}, ""))["id"]
    scores = {"system": {"Aspen": 1, "Birch": 2, "Cedar": 3}}
    body = {"human": {"scores": scores}, "metrics": {"comparison": several}}
    refused = problem(service.post("/v1/metric-evaluations", json=body), 422, "invalid-input")
    assert refused["detail"].startswith("metrics.comparison must be about one test set")


def test_what_a_leaderboard_shows_cannot_be_named_for_its_texts(service):
    texts = studied.comparison()
    board = {"name": "named", "references": texts["references"], "metrics": ["chrf"]}
    url = service.post("/v1/testsets", json=board).raise_for_status().headers["location"]
    for name, lines in texts["systems"].items():
        put = service.put(
            f"{url}/systems/{name}", json={"hypotheses": lines}, headers={"Prefer": "wait=60"}
        )
        assert put.is_success, put.text
    shown = (
        service.get(f"{url}/leaderboard").raise_for_status().json()["comparison"].rpartition("/")[2]
    )
    body = {"human": {"pairs": studied.people()}, "comparison": {"id": shown}}
    refused = problem(service.post("/v1/test-accuracy", json=body), 422, "invalid-recipe")
    assert "leaderboard of test set" in refused["detail"]
    assert refused["errors"][0]["field"] == "comparison.id"
    service.delete(url)


def test_unfinished_questions_are_waited_for_as_long_as_the_client_says(service):
    body = studied.comparison(resamples=400_000, seed=int.from_bytes(b"named"))
    compared = service.post("/v1/comparisons", json=body).json()
    later = {"human": {"pairs": studied.people()}, "comparison": {"id": compared["id"]}}
    refused = service.post("/v1/test-accuracy", json=later)
    assert problem(refused, 409, "not-ready")["errors"][0]["field"] == "comparison.id"
    assert refused.headers["retry-after"]
    waited = service.post("/v1/test-accuracy", json=later, headers={"Prefer": "wait=60"})
    assert waited.status_code in {200, 202}
    for url in (compared["links"]["self"], waited.json()["links"]["self"]):
        service.delete(url)


@pytest.mark.parametrize(
    ("path", "others"),
    [("test-accuracy", {"human": {"pairs": studied.people()}}), ("plans", {"difference": 1.5})],
)
def test_texts_come_as_files_of_a_form(service, path, others):
    compared = studied.comparison()
    whole = {"comparison": dict(compared), **others}
    form = [("references", ("ref.en", "\n".join(compared.pop("references"))))]
    systems = compared.pop("systems")
    form += [("systems", (f"{name}.en", "\n".join(lines))) for name, lines in systems.items()]
    answer = service.post(
        f"/v1/{path}",
        files=form,
        data={"request": json.dumps({"comparison": compared, **others})},
        headers={"Prefer": "wait=60"},
    )
    assert answer.is_success, answer.text
    found = service.get(answer.json()["links"]["report"]).json()
    assert found == ask(service, path, whole)


@pytest.mark.parametrize("part", ["human", "judgements"])
def test_scores_of_metrics_and_people_come_as_files(service, part):
    body = scored.request(statistics=["pearson", "kendall"])
    tables = {
        label: "\n".join(f"{name} {score}" for name, score in own["system"].items())
        for label, own in {"people": body["human"]["scores"], **body["metrics"]}.items()
    }
    form = [(part, ("people.txt", tables.pop("people")))]
    form += [("scores", (f"{label}.tsv", text)) for label, text in tables.items()]
    rest = {"statistics": ["pearson", "kendall"], "metrics": {"TER": {"higher": False}}}
    answer = service.post(
        "/v1/metric-evaluations",
        files=form,
        data={"request": json.dumps(rest)},
        headers={"Prefer": "wait=60"},
    )
    assert answer.is_success, answer.text
    found = service.get(answer.json()["links"]["report"]).json()
    whole = ask(service, "metric-evaluations", body)
    values = [
        {m["label"]: (m["pearson"], m["kendall"]) for m in r["metrics"]} for r in (found, whole)
    ]
    assert values[0] == values[1]
    misread = service.post(
        "/v1/metric-evaluations", files=[form[0], ("scores", ("BLEU.tsv", "A 1\nB x\n"))]
    )
    (error,) = problem(misread, 422, "invalid-input")["errors"]
    assert (error["field"], error["line"]) == ("scores", 2)


def test_an_evalset_comes_as_an_archive_of_a_form(service, tmp_path):
    """Its request says which languages and which human scores to read."""
    archive = tmp_path / "set.zip"
    scores = {"human-scores/xx-yy.mqm": (1, 2, 4, 3), "metric-scores/xx-yy/M-src": (1, 3, 4, 2)}
    with zipfile.ZipFile(archive, "w") as packed:
        for name, own in scores.items():
            rows = "".join(f"{s}\t{v}\n" for s, v in zip("ABCD", own, strict=True))
            packed.writestr(f"set/{name}.sys.score", rows)
    choices = {"lp": "xx-yy", "gold": "mqm", "title": "An EvalSet"}

    def posted(said: dict[str, str]) -> httpx.Response:
        return service.post(
            "/v1/metric-evaluations",
            files=[("evalset", (archive.name, archive.read_bytes()))],
            data={"request": json.dumps(said)},
            headers={"Prefer": "wait=60"},
        )

    answer = posted(choices)
    assert answer.is_success, answer.text
    found = service.get(answer.json()["links"]["report"]).json()
    own = sigtest.meta(evalset=archive, lp="xx-yy", gold="mqm")
    assert found["metrics"][0]["pearson"]["value"] == own.metrics[0].pearson.value
    refused = problem(posted({**choices, "golt": "mqm"}), 422, "invalid-recipe")
    assert "Did you mean 'gold'?" in refused["detail"]


def test_comparisons_inside_are_limited_as_others(service, serve):
    small = serve(Settings(max_metrics=1, max_segments=29))
    refused = problem(small.post("/v1/test-accuracy", json=studied.request()), 413,
                      "limit-exceeded")  # fmt: skip
    assert refused["errors"][0]["field"] == "comparison.references[0]"
    fewer = serve(Settings(max_metrics=1))
    refused = problem(fewer.post("/v1/test-accuracy", json=studied.request()), 422,
                      "limit-exceeded")  # fmt: skip
    assert refused["errors"][0]["field"] == "comparison.metrics"
    wrong = studied.request(comparison=studied.comparison(metrics=["blue"]))
    (error,) = service.post("/v1/test-accuracy", json=wrong).json()["errors"]
    assert error["field"] == "comparison.metrics"


def people_body() -> dict[str, Any]:
    """Judgements of the systems of a study."""
    rng = np.random.default_rng(2)
    levels = dict(zip(studied.SYSTEMS, (70, 55, 54, 35), strict=True))
    rows = [
        {"annotator": f"M{who}", "system": system, "segment": segment, "criterion": "adequacy",
         "score": float(level + rng.normal(0, 9))}
        for system, level in levels.items() for segment in range(1, 31) for who in range(2)
    ]  # fmt: skip
    return {"judgements": rows, "scale": [-20, 120]}


def ask(service: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The report of a question."""
    links = answered(service, Sample(path, body, "", 0, {}, ""))["links"]
    found: dict[str, Any] = service.get(links["report"]).json()
    return found
