"""Several test sets over HTTP: the library's report, one clear problem for everything else."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from computed import rendered
from exchange import COMPARISONS, check, problem, submit
from service import until

from app.settings import Settings
from sigtest.cli import main
from sigtest.client import Client
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.text import parse_lines
from sigtest.engine import compare, distribute
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import PICTURES
from sigtest.render.records import render_json
from sigtest.report import Report
from sigtest.requests.comparisons import SeveralRequest

NAMES = ("aspen", "birch", "cedar", "elm")
TESTS = ["approximate_randomization", "bootstrap", "bootstrap_t", "paired_bootstrap"]


def lines(path: Path, part: slice = slice(None)) -> list[str]:
    return list(parse_lines(path.read_bytes(), path.name))[part]


def content(folder: Path, part: slice = slice(None)) -> dict[str, Any]:
    systems = [
        {"name": name, "hypotheses": lines(folder / "systems" / f"{name}.en", part)}
        for name in NAMES
    ]
    return {"references": [lines(folder / "reference.en", part)], "systems": systems}


@pytest.fixture
def suite(example: Path) -> dict[str, Any]:
    """Test sets of 50, 88 and 24 segments."""
    return {
        "testsets": [
            {"name": "first", **content(example, slice(0, 50))},
            {"name": "second", **content(example, slice(50, 138))},
            {"name": "talk", **content(example.parent / "talk")},
        ],
        "metrics": ["bleu", "ter"],
        "tests": TESTS,
        "resamples": 300,
    }


@pytest.fixture
def endless(suite: dict[str, Any]) -> dict[str, Any]:
    """A suite that is still at work whenever a test looks."""
    texts = ["a b c d e f g", "h i j k l m n"] * 2000
    for testset in suite["testsets"]:
        testset["references"] = [texts]
        for i, system in enumerate(testset["systems"]):
            system["hypotheses"] = texts[i:] + texts[:i]
    return suite | {"resamples": 290_000, "exact": "never"}


@cache
def report_of(body: str) -> Report:
    """The library's report on a request in JSON."""
    return compare(parse_comparison(json.loads(body)))


def succeeded(service: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = submit(service, body).json()
    assert told["status"] == "succeeded", told
    return told


def replicated(suite: dict[str, Any]) -> dict[str, Any]:
    for testset in suite["testsets"]:
        texts = [system["hypotheses"] for system in testset["systems"]]
        testset["systems"] = [
            {"name": "A", "replicas": texts[:2]},
            {"name": "B", "replicas": texts[2:]},
        ]
    return suite


def labelled(suite: dict[str, Any]) -> dict[str, Any]:
    for testset in suite["testsets"]:
        testset["labels"] = ["x", "y"] * (len(testset["references"][0]) // 2)
    return suite | {"stratified": True}


def documented(suite: dict[str, Any]) -> dict[str, Any]:
    for testset in suite["testsets"]:
        testset["documents"] = [f"d{i // 4}" for i in range(len(testset["references"][0]))]
    return suite | {"unit": "document"}


@pytest.mark.parametrize("pooled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "change",
    [
        lambda suite: suite,
        lambda suite: suite | {"pooled": True},
        lambda suite: suite | {"exact": "never", "seed": 0, "alternative": "greater"},
        lambda suite: suite | {"pairs": {"baseline": "cedar"}, "correction": "bonferroni"},
        replicated,
        labelled,
        documented,
    ],
)
def test_the_report_is_that_of_the_library(service, suite, change, pooled):
    body = {"pooled": pooled, **change(suite)}
    expected = compare(parse_comparison(body))
    url = succeeded(service, body)["links"]["report"]
    assert service.get(url).text == render_json(expected)
    assert service.get(url, params={"format": "text"}).text == rendered("text", expected)
    assert service.get(url, headers={"Accept": "text/plain"}).text == rendered("text", expected)


def test_exact_p_values_of_test_sets_stay_exact(service, suite):
    body = suite | {"metrics": ["ter"], "tests": ["approximate_randomization"]}
    told = service.get(succeeded(service, body)["links"]["report"])
    assert told.text == render_json(compare(parse_comparison(body)))
    report = told.json()
    assert all(p["exact"] for own in report["testsets"] for p in own["report"]["pairs"])
    assert not any(pair["exact"] for pair in report["overall"]["pairs"])


def test_scores_alone_may_be_sent(service):
    systems = [
        {"name": name, "scores": {"comet": [0.1 * i + shift for i in range(9)]}}
        for name, shift in (("A", 0.0), ("B", 0.05))
    ]
    testsets = [{"name": name, "systems": systems} for name in ("one", "two")]
    body = {"testsets": testsets, "metrics": ["scores:of=comet"], "resamples": 99}
    report = service.get(succeeded(service, body)["links"]["report"])
    assert report.text == render_json(compare(parse_comparison(body)))


def test_the_schemas_are_true(service, suite):
    told = service.get(succeeded(service, suite)["links"]["report"]).json()
    check(service, "ReportOnSeveral", told)
    assert SeveralRequest.of(suite).model_dump(mode="json", exclude_unset=True) == suite


def test_the_resource_names_its_test_sets(service, suite, body):
    told = succeeded(service, suite)
    assert told["testsets"] == ["first", "second", "talk"]
    assert (told["systems"], told["metrics"], told["tests"]) == ([*NAMES], ["bleu", "ter"], TESTS)
    assert set(told["links"]["plots"]) == {"matrix", "intervals", "grid"}
    assert service.get(told["links"]["self"]).json() == told
    listed = service.get(COMPARISONS, params={"limit": 100}).json()["comparisons"]
    assert told in listed
    assert "testsets" not in succeeded(service, body)


def test_equal_content_is_the_same_comparison(service, suite):
    told = succeeded(service, suite | {"seed": 5})
    again = service.post(COMPARISONS, json={"seed": 5, **suite})
    assert (again.status_code, again.json()) == (200, told)
    headers = {"Idempotency-Key": "suite-1"}
    assert service.post(COMPARISONS, json=suite | {"seed": 5}, headers=headers).json() == told
    other = service.post(COMPARISONS, json=suite | {"seed": 6}, headers=headers)
    problem(other, 422, "idempotency-key-reused")


@pytest.mark.parametrize("change", ["pooled", "name", "order"])
def test_what_changes_the_report_changes_the_id(service, suite, change):
    told = succeeded(service, suite)
    if change == "pooled":
        suite["pooled"] = True
    elif change == "name":
        suite["testsets"][0]["name"] = "another"
    else:
        suite["testsets"].reverse()
    assert succeeded(service, suite)["id"] != told["id"]


def test_a_suite_can_be_cancelled_and_deleted(service, stored, endless):
    url = service.post(COMPARISONS, json=endless).headers["location"]
    early = service.get(url + "/report")
    problem(early, 409, "not-ready")
    assert int(early.headers["retry-after"]) >= 1
    cancelled = service.delete(url)
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert service.delete(url).status_code == 204
    problem(service.get(url), 410, "gone")
    name = url.rpartition("/")[2]
    # a task that ran may have let others wait meanwhile: they end when their turn comes
    until(lambda: {key for key in stored() if key.endswith(name)} <= {f"sigtest:gone:{name}"})


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_served(service, suite, name):
    url = succeeded(service, suite)["links"]["report"]
    told = service.get(url, params={"format": name})
    assert told.headers["content-type"].startswith(FORMATS[name].media_type)
    assert told.text == rendered(name, report_of(json.dumps(suite)))


@pytest.mark.parametrize("testset", [None, "second"])
@pytest.mark.parametrize("name", ["matrix", "intervals"])
def test_pictures_are_of_all_together_or_of_one_test_set(service, suite, name, testset):
    url = succeeded(service, suite)["links"]["self"]
    params = {"testset": testset} if testset else {}
    drawn = service.get(f"{url}/plots/{name}.svg", params=params)
    report = report_of(json.dumps(suite))
    assert drawn.text == PICTURES[name].draw(report, {"testset": testset})


def test_distributions_are_of_one_test_set(service, suite):
    url = succeeded(service, suite)["links"]["self"]
    pair = {"a": "aspen", "b": "elm", "metric": "bleu", "test": "bootstrap"}
    told = problem(service.get(f"{url}/distribution", params=pair), 422, "invalid-recipe")
    assert told["detail"] == "testset must name one of the test sets: first, second, talk."
    drawn = service.get(f"{url}/distribution", params=pair | {"testset": "talk"}).json()
    expected = distribute(parse_comparison(suite), *pair.values(), "talk")
    assert drawn["observed"] == expected.observed
    assert drawn["counts"] == expected.histogram()[1].tolist()


def bad_line(suite: dict[str, Any]) -> dict[str, Any]:
    suite["testsets"][1]["systems"][0]["hypotheses"][6] = "two\nlines"
    return suite


def too_short(suite: dict[str, Any]) -> dict[str, Any]:
    del suite["testsets"][2]["systems"][3]["hypotheses"][-1]
    return suite


def without(suite: dict[str, Any], field: str) -> dict[str, Any]:
    del suite["testsets"][1][field]
    return suite


def badly_named(suite: dict[str, Any]) -> dict[str, Any]:
    suite["testsets"][1]["name"] = "a/b"
    return suite


def doubled(suite: dict[str, Any]) -> dict[str, Any]:
    suite["testsets"][1]["name"] = "first"
    return suite


def fewer(suite: dict[str, Any]) -> dict[str, Any]:
    suite["testsets"][1]["systems"].pop()
    return suite


@pytest.mark.parametrize(
    ("spoil", "kind", "where", "said"),
    [
        (bad_line, "invalid-input", "testsets[1].systems[0].hypotheses", "Test set 'second': "),
        (too_short, "length-mismatch", "testsets[2].systems[3].hypotheses", "Test set 'talk': "),
        (lambda s: without(s, "name"), "invalid-input", "testsets[1].name", "name is missing"),
        (lambda s: without(s, "systems"), "invalid-input", "testsets[1].systems", "is missing"),
        (badly_named, "invalid-input", "testsets[1].name", "test set name 'a/b' contains"),
        (doubled, "invalid-input", "testsets", "Two test sets are named 'first'"),
        (fewer, "invalid-input", "testsets", "every test set needs the same"),
        (lambda s: s | {"testsets": s["testsets"][:1]}, "invalid-input", "testsets", "1 given"),
        (lambda s: s | {"testsets": 3}, "invalid-input", "testsets", "testsets must be a list"),
        (lambda s: s | {"testsets": [3, 4]}, "invalid-input", "testsets[0]", "must be an object"),
        (lambda s: s | {"systems": []}, "invalid-recipe", "systems", "Unknown field 'systems'"),
        (lambda s: s | {"pooled": "yes"}, "invalid-input", "pooled", "must be true or false"),
        (lambda s: s | {"unit": "document"}, "invalid-recipe", "unit", "Test set 'first': unit="),
        (lambda s: s | {"pairs": {"baseline": "Z"}}, "invalid-recipe", "pairs", "baseline 'Z'"),
        (
            lambda s: s | {"correction": "max_t", "tests": ["bootstrap"]},
            "invalid-recipe",
            "correction",
            "one test set",
        ),
    ],
)
def test_bad_suites_are_one_clear_problem(service, stored, suite, spoil, kind, where, said):
    before = stored()
    told = problem(service.post(COMPARISONS, json=spoil(suite)), 422, kind)
    assert said in told["detail"]
    (error,) = told["errors"]
    assert error["field"].startswith(where)
    assert stored() == before


def test_a_bad_line_is_named(service, suite):
    (error,) = problem(service.post(COMPARISONS, json=bad_line(suite)), 422, "invalid-input")[
        "errors"
    ]
    assert (error["system"], error["line"]) == ("aspen", 7)


def test_a_form_is_for_one_test_set(service, suite):
    form = {"request": (None, json.dumps(suite).encode(), "application/json")}
    told = problem(service.post(COMPARISONS, files=form), 422, "invalid-input")
    assert told["errors"][0]["field"] == "testsets"
    assert "as JSON" in told["detail"]


@pytest.mark.parametrize(
    ("limits", "limit", "status", "field"),
    [
        ({"max_systems": 11}, "max_systems", 413, "testsets"),
        ({"max_scores": 25_199}, "max_scores", 422, "resamples"),
        ({"max_segments": 87}, "max_segments", 413, "testsets[1].references[0]"),
        ({"max_characters": 20}, "max_characters", 413, "testsets[0].references[0]"),
        ({"max_rows": 4 * 6 * 2 * len(TESTS) - 1}, "max_rows", 422, "testsets"),
        ({"max_resamples": 299}, "max_resamples", 422, "resamples"),
        ({"max_metrics": 1}, "max_metrics", 422, "metrics"),
    ],
)
def test_limits_count_all_test_sets(serve, suite, limits, limit, status, field):
    response = serve(Settings(**limits)).post(COMPARISONS, json=suite)
    told = problem(response, status, "limit-exceeded")
    assert (told["limit"], told["errors"][0]["field"]) == (limit, field)


def test_limits_count_the_replicas_of_all_test_sets(serve, suite):
    body = replicated(suite)  # 2 systems, 2 replicas, 3 test sets
    refused = serve(Settings(max_systems=11)).post(COMPARISONS, json=body)
    assert problem(refused, 413, "limit-exceeded")["limit"] == "max_systems"
    assert serve(Settings(max_systems=12)).post(COMPARISONS, json=body).is_success


def test_everything_within_the_limits_is_accepted(serve, suite):
    limits = Settings(
        max_systems=12,
        max_segments=88,
        max_rows=4 * 6 * 2 * len(TESTS),
        max_resamples=300,
        max_scores=25_200,  # 12 scores, and 12 + 18 standard errors, of 2 metrics in 300 resamples
    )
    assert serve(limits).post(COMPARISONS, json=suite).is_success


@pytest.fixture
def client(service: httpx.Client) -> Iterator[Client]:
    with Client(str(service.base_url)) as made:
        yield made


def test_the_client_submits_suites(client, suite):
    asked = parse_comparison(suite | {"seed": 9})
    key = client.run(asked)
    assert client.report(key).decode() == render_json(compare(asked))
    assert client.plot(key, "matrix").decode() == PICTURES["matrix"].draw(compare(asked), {})


@pytest.mark.parametrize("form", [  # all are served: see above
    form if form in ("text", "json") else pytest.param(form, marks=pytest.mark.slow)
    for form in FORMATS
])  # fmt: skip
def test_server_prints_what_this_process_prints(service, example, form, capfdbinary):
    folders = [f"news={example}", str(example.parent / "talk")]
    command = ["suite", *folders, "--metric", "chrf", "--resamples", "199", "--format", form]
    assert main(command) == 0
    here = capfdbinary.readouterr()
    assert main([*command, "--server", str(service.base_url)]) == 0
    assert capfdbinary.readouterr() == here
    assert here.err == b""
