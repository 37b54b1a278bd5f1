"""Reports in every format, and the distributions behind them."""

import json
from contextlib import closing
from typing import Any

import httpx
import numpy as np
import pytest
from computed import rendered
from exchange import check, problem, submit

from app.http.negotiation import Wish, choose_format
from app.http.problems import NotAcceptableError
from sigtest.comparison.comparison import parse_comparison
from sigtest.decide.summary import decided
from sigtest.engine import compare
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.pictures import PICTURES
from sigtest.report import Report
from workers.store import codec, keys
from workers.store.server import connect


@pytest.fixture
def asked(body: dict[str, Any]) -> dict[str, Any]:
    tests = ["approximate_randomization", "bootstrap"]
    return body | {"metrics": ["bleu", "ter"], "tests": tests, "exact": "never", "seed": 1}


@pytest.fixture
def url(service: httpx.Client, asked: dict[str, Any]) -> str:
    return str(submit(service, asked).headers["location"])


def test_json_is_what_compare_gives(service, url, asked):
    response = service.get(url + "/report")
    assert response.headers["content-type"] == "application/json"
    assert response.text == rendered("json", compare(parse_comparison(asked)))


def test_the_schema_of_reports_is_true(service, url):
    told = service.get(url + "/report").json()
    check(service, "Report", told)


def test_a_report_with_other_fields_is_json_and_else_says_what_to_do(service, asked, queue):
    submitted = submit(service, {**asked, "seed": 917})
    url, name = submitted.headers["location"], keys.key("report", submitted.json()["id"])
    service.get(url + "/report").raise_for_status()
    with closing(connect(queue)) as redis:
        later = b'{"vintage": 2030, ' + codec.unpack_bytes(redis.get(name))[1:]
        redis.set(name, codec.pack_bytes(later))
    assert service.get(url + "/report").content == later
    for path in ("/report?format=text", "/report?alpha=0.01", "/plots/matrix.svg"):
        told = problem(service.get(url + path), 406, "not-acceptable")
        assert "can send it only whole and as JSON (?format=json)" in told["detail"]
        assert "asked again" in told["detail"]
    page = service.get(url.removeprefix("/v1"), headers={"Accept": "text/html"})
    assert page.status_code == 406
    assert "asked again" in page.text


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_served(service, url, name):
    report = Report.from_json(service.get(url + "/report").json())
    by_name = service.get(url + "/report", params={"format": name})
    by_type = service.get(url + "/report", headers={"Accept": FORMATS[name].media_type})
    assert by_name.text == by_type.text == rendered(name, report)
    assert by_name.headers["content-type"].startswith(FORMATS[name].media_type)
    assert by_name.headers["vary"] == "Accept, Accept-Encoding"
    held = {"If-None-Match": by_name.headers["etag"]}
    again = service.get(url + "/report", params={"format": name}, headers=held)
    assert (again.status_code, again.headers["vary"]) == (304, by_name.headers["vary"])


def test_a_report_is_decided_anew_in_every_format(service, url):
    whole = Report.from_json(service.get(url + "/report").json())
    choice = {"alpha": "0.2", "correction": "none"}
    for name in FORMATS:
        told = service.get(url + "/report", params={**choice, "format": name})
        assert told.text == rendered(name, decided(whole, 0.2, "none"))
        assert told.headers["etag"] != service.get(f"{url}/report?format={name}").headers["etag"]
    check(service, "Report", service.get(url + "/report", params=choice).json())
    picture = service.get(url + "/plots/intervals.svg", params=choice).text
    assert picture == PICTURES["intervals"].draw(decided(whole, 0.2, "none"), {})
    assert "95 % intervals" in picture
    same = service.get(url + "/report", params={"alpha": 0.05, "correction": "holm"})
    assert same.text == service.get(url + "/report").text


@pytest.mark.parametrize("asked_for", ["alpha=2", "correction=max_t", "correction=holms"])
def test_what_cannot_be_decided_anew_is_a_problem(service, url, asked_for):
    problem(service.get(f"{url}/report?{asked_for}"), 422, "invalid-recipe")
    problem(service.get(f"{url}/plots/matrix.svg?{asked_for}"), 422, "invalid-recipe")


def test_other_formats_are_not_acceptable(service, url):
    problem(service.get(url + "/report?format=docx"), 406, "not-acceptable")
    response = service.get(url + "/report", headers={"Accept": "image/png"})
    assert "text/csv" in problem(response, 406, "not-acceptable")["detail"]


@pytest.mark.parametrize(
    ("accept", "name"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("application/*", "json"),
        ("text/csv", "csv"),
        ("text/csv, */*", "csv"),
        ("text/plain;q=0.5, text/csv;q=0.7", "csv"),
        ("text/*;q=0.9, application/json;q=0.1", "text"),
        ("application/json;q=0, text/markdown;q=0.1", "markdown"),
        ("application/x-tex", "latex"),
        ("TEXT/CSV ; Q=1.0", "csv"),
        ("image/png, */*;q=0.1", "json"),
    ],
)
def test_the_most_wanted_format_is_chosen(accept, name):
    assert choose_format(Wish((accept,))) == name


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", "text/csv;q=x"])
def test_nothing_wanted_is_there(accept):
    with pytest.raises(NotAcceptableError):
        choose_format(Wish((accept,)))


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_distributions_are_those_behind_the_p_values(service, url, metric):
    test = "approximate_randomization"
    parameters = {"a": "A", "b": "B", "metric": metric, "test": test, "values": "true"}
    drawn = service.get(url + "/distribution", params=parameters).json()
    pairs = service.get(url + "/report").json()["pairs"]
    (pair,) = (p for p in pairs if (p["metric"], p["test"]) == (metric, test))
    assert drawn["observed"] == pair["difference"]
    extreme = np.abs(drawn["values"]) >= abs(drawn["observed"]) * (1 - 1e-9)
    assert (extreme.sum(), len(drawn["values"])) == (pair["count"], pair["resamples"])
    assert (len(drawn["bins"]), sum(drawn["counts"])) == (51, pair["resamples"])


def test_values_come_only_when_asked_for(service, url):
    parameters = {"a": "B", "b": "A", "metric": "bleu", "test": "bootstrap"}
    drawn = service.get(url + "/distribution", params=parameters).json()
    assert list(drawn) == ["a", "b", "metric", "test", "observed", "bins", "counts"]


@pytest.mark.parametrize(
    ("change", "kind", "field"),
    [
        ({"a": "Z"}, "invalid-recipe", "a"),
        ({"metric": "chrf"}, "invalid-recipe", "metric"),
        ({"test": "x"}, "invalid-recipe", "test"),
        ({"a": None}, "invalid-recipe", "a"),
        ({"values": "maybe"}, "invalid-parameter", "values"),
    ],
)
def test_distributions_of_nothing_are_refused(service, url, change, kind, field):
    asked = {"a": "A", "b": "B", "metric": "bleu", "test": "bootstrap"} | change
    parameters = {name: value for name, value in asked.items() if value is not None}
    response = service.get(url + "/distribution", params=parameters)
    (error,) = problem(response, 422, kind)["errors"]
    assert error["field"] == field


def test_a_report_that_is_not_asked_for_is_json(service, url):
    assert json.loads(service.get(url + "/report", headers={"Accept": ""}).text)["version"]


def test_tables_are_laid_out_over_http(service, url):
    report = Report.from_json(service.get(url + "/report").json())
    layout: dict[str, Any] = {
        "table": "systems",
        "caption": "Results of the task.",
        "label": "tab:all",
        "names": [r"bleu=BLEU $\uparrow$", "ter=TER"],
    }
    told = service.get(url + "/report", params={"format": "latex", **layout})
    made = Layout(**{**layout, "names": tuple(layout["names"])})
    assert told.text == FORMATS["latex"].render(present(report, made))
    assert r"{BLEU $\uparrow$}" in told.text
    plain = service.get(url + "/report", params={"format": "latex"})
    assert told.headers["etag"] != plain.headers["etag"]
    records = service.get(url + "/report", params={"format": "csv", "table": "systems"})
    assert records.text.startswith("system,metric,score,")


@pytest.mark.parametrize(
    ("layout", "field"),
    [
        ({"table": "rows"}, "table"),
        ({"caption": "x"}, "caption"),
        ({"table": "systems", "label": "{"}, "label"),
        ({"names": "blue=BLEU"}, "names"),
    ],
)
def test_layouts_that_cannot_be_are_problems(service, url, layout, field):
    response = service.get(url + "/report", params={"format": "latex", **layout})
    assert problem(response, 422, "invalid-recipe")["errors"][0]["field"] == field


@pytest.mark.parametrize("form", ["json", "bibtex"])
def test_a_layout_of_what_has_no_tables_is_a_problem(service, url, form):
    for layout in ({"table": "pairs"}, {"names": "bleu=BLEU"}):
        told = problem(
            service.get(url + "/report", params={"format": form, **layout}), 422, "invalid-recipe"
        )
        assert told["errors"][0]["field"] in layout
        assert f"{form} has no tables; leave" in told["detail"]


def test_a_part_has_the_numbers_of_the_whole(service, body):
    third = {"name": "C", "hypotheses": ["a b", "f g h", "k l m n o"]}
    asked = {
        **body,
        "systems": [*body["systems"], third],
        "metrics": ["bleu", "chrf"],
        "tests": ["approximate_randomization", "bootstrap"],
    }
    url = submit(service, asked).json()["links"]["report"]
    whole = service.get(url).json()

    def pairs(**wanted: Any) -> list[dict[str, Any]]:
        part = service.get(url, params=wanted)
        check(service, "Report", part.json())
        found: list[dict[str, Any]] = part.json()["pairs"]
        return found

    bleu = [pair for pair in whole["pairs"] if pair["metric"] == "bleu"]
    assert pairs(metric="bleu") == bleu
    one = [pair for pair in bleu if pair["test"] == "bootstrap"]
    assert pairs(metric="bleu", test="bootstrap") == one
    assert pairs(system="C") == [pair for pair in whole["pairs"] if "C" in (pair["a"], pair["b"])]
    among = [pair for pair in whole["pairs"] if {pair["a"], pair["b"]} == {"A", "C"}]
    assert pairs(system=["A", "C"]) == among
    held = {service.get(url, params=p).headers["etag"] for p in ({}, {"system": "A"})}
    assert len(held) == 2
    assert service.get(url, params={"metric": "", "system": ""}).json() == whole
    table = {"format": "csv", "table": "systems", "metric": "chrf", "test": "bootstrap"}
    rows = service.get(url, params=table).text.splitlines()[1:]
    assert [row.split(",")[:2] for row in rows] == [[name, "chrf"] for name in "ABC"]
    refused = problem(service.get(url, params={"system": "D"}), 422, "invalid-recipe")
    assert refused["errors"][0]["field"] == "system"
