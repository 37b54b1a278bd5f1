"""Pictures over HTTP: the bytes that the library draws, and nothing that a browser would run."""

from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, problem, safe_picture, submit

from app.settings import Settings
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare, distribute
from sigtest.render.drawing import PICTURE_FORMATS, converted
from sigtest.render.pictures import PICTURES
from sigtest.report import Report

NAMES = ("=cmd|x", r"\input{a} 100 % & more", "ordinary")
TESTS = ["approximate_randomization", "bootstrap"]


@pytest.fixture
def asked(body: dict[str, Any]) -> dict[str, Any]:
    body["systems"].append({"name": "C", "hypotheses": ["a b c d", "f g h i", "k l m n o"]})
    for system, name in zip(body["systems"], NAMES, strict=True):
        system["name"] = name
    return body | {"metrics": ["bleu", "ter"], "tests": TESTS, "exact": "never", "seed": 3}


@pytest.fixture
def url(service: httpx.Client, asked: dict[str, Any]) -> str:
    return str(submit(service, asked).headers["location"])


@pytest.fixture
def report(asked: dict[str, Any]) -> Report:
    return compare(parse_comparison(asked))


@pytest.mark.parametrize("name", ["matrix", "intervals", "badge"])
@pytest.mark.parametrize("choice", [{}, {"metric": "ter"}, {"metric": "ter", "test": "bootstrap"}])
def test_pictures_of_a_report_are_those_of_the_library(service, url, report, name, choice):
    response = service.get(f"{url}/plots/{name}.svg", params=choice)
    assert response.status_code == 200
    assert response.text == PICTURES[name].draw(report, choice)


def test_a_badge_is_of_the_system_that_is_named(service, url, report):
    for name in NAMES:
        told = service.get(f"{url}/plots/badge.svg", params={"system": name, "metric": "ter"})
        drawn = PICTURES["badge"].draw(report, {"system": name, "metric": "ter"})
        assert (told.status_code, told.text) == (200, drawn)


def test_distributions_are_drawn_by_a_worker_and_look_the_same(service, url, report, asked):
    a, b = NAMES[1:]
    chosen = {"metric": "ter", "test": "bootstrap"}
    response = service.get(f"{url}/plots/distribution.svg", params={"a": a, "b": b, **chosen})
    drawn = distribute(parse_comparison(asked), a, b, "ter", "bootstrap")
    assert response.text == PICTURES["distribution"].draw(report, {}, drawn)
    first = service.get(f"{url}/plots/distribution.svg", params={"a": a, "b": b})
    drawn = distribute(parse_comparison(asked), a, b, "bleu", TESTS[0])
    assert first.text == PICTURES["distribution"].draw(report, {}, drawn)


@pytest.mark.parametrize("name", ["matrix", "intervals", "distribution", "badge"])
def test_pictures_run_nothing_and_are_kept(service, url, name):
    params = {"a": NAMES[0], "b": NAMES[1]} if name == "distribution" else {}
    safe_picture(service, f"{url}/plots/{name}.svg", params)


@pytest.mark.parametrize(
    ("path", "kind", "field"),
    [
        ("matrix.svg?metric=blue", "invalid-recipe", "metric"),
        ("intervals.svg?test=t", "invalid-recipe", "test"),
        ("distribution.svg", "invalid-recipe", "a"),
        ("distribution.svg?a=ordinary", "invalid-recipe", "b"),
        ("distribution.svg?a=ordinary&b=Z", "invalid-recipe", "b"),
        ("distribution.svg?a=ordinary&b=ordinary", "invalid-recipe", "b"),
        ("distribution.svg?a=ordinary&b=%3Dcmd%7Cx&metric=chrf", "invalid-recipe", "metric"),
        ("distribution.svg?a=ordinary&b=%3Dcmd%7Cx&test=t", "invalid-recipe", "test"),
        ("intervals.svg?a=ordinary", "invalid-recipe", "a"),
        ("matrix.svg?criterion=fluency", "invalid-recipe", "criterion"),
        ("matrix.svg?system=ordinary", "invalid-recipe", "system"),
        ("badge.svg?system=Z", "invalid-recipe", "system"),
    ],
)
def test_pictures_of_nothing_are_refused(service, url, path, kind, field):
    errors = problem(service.get(f"{url}/plots/{path}"), 422, kind)["errors"]
    assert errors[0]["field"] == field


@pytest.mark.parametrize("what", ["distribution", "segments"])
def test_a_pair_takes_no_look_and_no_level(service, url, what):
    pair = {"a": NAMES[0], "b": NAMES[1]}
    for part in ("width", "title", "omit", "criterion", "alpha", "correction"):
        told = service.get(f"{url}/{what}", params={**pair, part: "1"})
        (error,) = problem(told, 422, "invalid-recipe")["errors"]
        assert error["field"] == part
    told = service.get(f"{url}/{what}", params={**pair, "testset": "news"})
    assert problem(told, 422, "invalid-recipe")["detail"] == (
        "There is one test set; leave testset out."
    )


def test_a_choice_of_two_says_so(service, url):
    pair = {"a": NAMES[0], "b": NAMES[1], "values": "2"}
    told = problem(service.get(f"{url}/distribution", params=pair), 422, "invalid-parameter")
    assert told["detail"] == "values: it must be true or false, not '2'."


def test_pictures_are_svg_pdf_or_png(service, url, report):
    pytest.importorskip("typst", reason="PDF and PNG need the extra `pictures`")
    svg = PICTURES["matrix"].draw(report, {})
    made = {suffix: converted(svg, suffix) for suffix in PICTURE_FORMATS}
    for suffix, media in PICTURE_FORMATS.items():
        for path, accept in ((f".{suffix}", "*/*"), (f"?format={suffix}", "*/*"), ("", media)):
            told = service.get(f"{url}/plots/matrix{path}", headers={"Accept": accept})
            assert told.headers["content-type"].split(";")[0] == media
            assert told.content == made[suffix]
            assert "Accept" in told.headers["vary"].split(", ")
            held = {"Accept": accept, "If-None-Match": told.headers["etag"]}
            assert service.get(f"{url}/plots/matrix{path}", headers=held).status_code == 304
    plain = service.get(f"{url}/plots/matrix", headers={"Accept": "image/webp, */*;q=0.8"})
    assert plain.text == svg
    assert service.get(f"{url}/plots/matrix.png?format=svg").text == svg
    told = service.get(f"{url}/plots/matrix?format=gif")
    (error,) = problem(told, 406, "not-acceptable")["errors"]
    assert error["field"] == "format"
    told = service.get(f"{url}/plots/matrix", headers={"Accept": "image/gif"})
    assert "application/pdf" in problem(told, 406, "not-acceptable")["detail"]


def test_other_pictures_do_not_exist(service, url):
    told = problem(service.get(f"{url}/plots/pie.svg"), 422, "invalid-recipe")
    assert "choose one of" in told["detail"]
    problem(service.get(f"{COMPARISONS}/{'0' * 32}/plots/matrix.svg"), 404, "not-found")


def test_a_matrix_needs_all_pairs(service, asked):
    asked["pairs"] = {"baseline": NAMES[2]}
    url = submit(service, asked).headers["location"]
    (error,) = problem(service.get(f"{url}/plots/matrix.svg"), 422, "invalid-recipe")["errors"]
    assert error["field"] == "pairs"
    assert service.get(f"{url}/plots/intervals.svg").status_code == 200
    pair = {"a": NAMES[0], "b": NAMES[1]}
    response = service.get(f"{url}/plots/distribution.svg", params=pair)
    assert "does not compare" in problem(response, 422, "invalid-recipe")["detail"]


@pytest.mark.parametrize("name", ["matrix.svg", "intervals.svg", "distribution.svg?a=A&b=B"])
def test_pictures_wait_for_the_report(service, body, name):
    text = [f"word{i} " * 20 for i in range(2000)]
    systems = [{"name": n, "hypotheses": [f"{n} {line}" for line in text]} for n in "AB"]
    large = body | {
        "references": [text],
        "systems": systems,
        "resamples": 999_999,
        "metrics": ["ter"],
        "tests": ["bootstrap"],
    }
    url = service.post(COMPARISONS, json=large).headers["location"]
    problem(service.get(f"{url}/plots/{name}"), 409, "not-ready")
    service.delete(url)


def test_every_answer_forbids_sniffing_and_csv_is_saved(service, url, serve):
    answers = [service.get(path) for path in ("/healthz", "/v1/nothing", url, url + "/report")]
    answers += [
        service.put(COMPARISONS),
        serve(Settings(max_body_bytes=10)).post(COMPARISONS, json={"a": "b" * 99}),
    ]
    for name in ("csv", "html", "latex"):
        answers.append(service.get(url + "/report", params={"format": name}))
        saved = answers[-1].headers["content-disposition"].partition(";")[0]
        assert saved == ("attachment" if name == "csv" else "inline")
        assert "sandbox" in answers[-1].headers["content-security-policy"]
    assert {answer.headers["x-content-type-options"] for answer in answers} == {"nosniff"}


def test_the_command_line_draws_the_same_here_and_there(service, example, tmp_path, monkeypatch):
    monkeypatch.chdir(example)
    command = ["compare", "--from", ".", "--metric", "bleu", "--metric", "ter:normalized=true"]
    command += ["--resamples", "499", "--distribution", "aspen", "birch", "--output", "/dev/null"]
    assert main([*command, "--plots", str(tmp_path / "here")]) == 0
    assert (
        main([*command, "--plots", str(tmp_path / "there"), "--server", str(service.base_url)]) == 0
    )
    here = {file.name: file.read_bytes() for file in (tmp_path / "here").iterdir()}
    there = {file.name: file.read_bytes() for file in (tmp_path / "there").iterdir()}
    assert here == there
    assert "distribution-aspen-birch-bleu-approximate_randomization.svg" in here
    assert "grid.svg" in here
    assert len(here) == 7


def test_pictures_have_the_style_that_is_asked_for(service, url, report):
    asked = {"width": "12cm", "title": "News", "omit": "legend,numbers"}
    told = service.get(f"{url}/plots/matrix.svg", params=asked)
    assert told.text == PICTURES["matrix"].draw(report, asked)
    refused = service.get(f"{url}/plots/matrix.svg", params={"omit": "legends"})
    assert "Did you mean 'legend'" in problem(refused, 422, "invalid-recipe")["detail"]
