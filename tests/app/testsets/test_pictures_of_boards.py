"""Pictures of leaderboards: those of one comparison of the same systems in the order of names."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from exchange import problem, safe_picture, submit

from app.settings import Settings
from sigtest.cli import main
from sigtest.client import Client
from sigtest.comparison.comparison import parse_comparison
from sigtest.decide.summary import decided
from sigtest.engine import compare, distribute
from sigtest.render.pictures import PICTURES

TESTSETS = "/v1/testsets"
REFERENCE = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"]
SYSTEMS = {
    r"\input{a} 100 % & more": ["a b c d", "f g h i j k", "k l n o", "p q r s"],
    "=cmd|x": ["a b c d e", "f g h i", "k l m n o", "p q r s t"],
    "ordinary": ["x b c d", "f g j k", "z z n o", "p q t"],
}
FIRST, SECOND, THIRD = sorted(SYSTEMS)
TEST = "approximate_randomization"
PAIR = {"a": FIRST, "b": SECOND}
CHOICES: dict[str, Any] = {
    "references": [REFERENCE],
    "metrics": ["bleu", "ter"],
    "tests": [TEST, "bootstrap"],
    "resamples": 99,
    "exact": "never",
}
WAIT = {"Prefer": "wait=60"}

Make = Callable[..., str]


@pytest.fixture
def make(service: httpx.Client) -> Make:
    """Make a test set with systems, each test its own; where its leaderboard is."""

    def made(systems: dict[str, list[str]] = SYSTEMS, **fields: Any) -> str:
        body = {"name": uuid4().hex, **CHOICES, **fields}
        url = service.post(TESTSETS, json=body).headers["location"]
        for name, lines in systems.items():
            put(service, f"{url}/leaderboard", name, lines)
        return f"{url}/leaderboard"

    return made


def put(service: httpx.Client, url: str, name: str, lines: list[str]) -> None:
    quoted = quote(name, safe="")
    path = f"{url.removesuffix('/leaderboard')}/systems/{quoted}?replace=true"
    answer = service.put(path, json={"hypotheses": lines}, headers=WAIT)
    assert answer.json()["status"] == "measured", answer.text


def whole(systems: dict[str, list[str]] = SYSTEMS, **fields: Any) -> dict[str, Any]:
    """The comparison of all systems in the order of their names, in the board's family."""
    ordered = [{"name": name, "hypotheses": lines} for name, lines in sorted(systems.items())]
    return {**CHOICES, "family": 64, "systems": ordered, **fields}


def got(service: httpx.Client, path: str, **params: Any) -> str:
    answer = service.get(path, params=params, headers=WAIT)  # for what joined last
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"metric": "ter", "test": "bootstrap"},
        {"metric": "ter", "alpha": 0.4, "correction": "benjamini_hochberg"},
    ],
)
def test_pictures_are_those_of_a_comparison(service, make, choice):
    url = make()
    metric, test = choice.get("metric", "bleu"), choice.get("test", TEST)
    shown = {k: v for k, v in choice.items() if k in {"alpha", "correction"}}
    report = decided(compare(parse_comparison(whole(metrics=[metric], tests=[test]))), **shown)
    assert got(service, f"{url}/plots/matrix.svg", **choice) == PICTURES["matrix"].draw(report, {})
    assert got(service, f"{url}/plots/intervals.svg", **choice) == PICTURES["intervals"].draw(
        report, {}
    )


@pytest.mark.parametrize(("a", "b"), [(FIRST, THIRD), (THIRD, SECOND)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_distributions_are_those_of_a_comparison(service, make, a, b, alternative):
    url = make(alternative=alternative)
    comparison = parse_comparison(
        whole(metrics=["ter"], tests=["bootstrap"], alternative=alternative)
    )
    drawn = distribute(comparison, a, b, "ter", "bootstrap")
    asked = {"a": a, "b": b, "metric": "ter", "test": "bootstrap"}
    shown = got(service, f"{url}/plots/distribution.svg", **asked)
    assert shown == PICTURES["distribution"].draw(compare(comparison), {}, drawn)
    there = submit(service, whole(alternative=alternative)).headers["location"]
    for values in ("true", "false"):
        one, other = (
            got(service, f"{where}/distribution", **asked, values=values) for where in (url, there)
        )
        assert one == other
    assert got(service, f"{there}/plots/distribution.svg", **asked) == shown


def test_two_spellings_of_one_metric(service, make):
    metrics = ["bleu", "bleu:tokenize=char"]
    url = make(metrics=metrics)
    chosen = {"metric": metrics[1]}
    comparison = parse_comparison(whole(metrics=metrics))
    report = compare(comparison)
    matrix = PICTURES["matrix"].draw(report, {"metric": metrics[1]})
    assert got(service, f"{url}/plots/matrix.svg", **chosen) == matrix
    drawn = distribute(comparison, FIRST, SECOND, metrics[1], TEST)
    shown = got(service, f"{url}/plots/distribution.svg", **PAIR, **chosen)
    assert shown == PICTURES["distribution"].draw(report, {}, drawn)
    told = service.get(f"{url}/distribution", params={**PAIR, **chosen}).json()
    assert told["metric"] == metrics[1]


def test_training_replicas(service, make):
    url = make({}, replicas=2)
    brought = {name: [lines, REFERENCE] for name, lines in SYSTEMS.items()}
    for name, replicas in brought.items():
        path = f"{url.removesuffix('/leaderboard')}/systems/{quote(name, safe='')}"
        answer = service.put(path, json={"replicas": replicas}, headers=WAIT)
        assert answer.json()["status"] == "measured", answer.text
    systems = [{"name": name, "replicas": replicas} for name, replicas in sorted(brought.items())]
    for test in CHOICES["tests"]:
        comparison = parse_comparison({**CHOICES, "systems": systems, "tests": [test]})
        drawn = distribute(comparison, FIRST, SECOND, "ter", test)
        alone = parse_comparison(
            {**CHOICES, "systems": systems, "metrics": ["ter"], "tests": [test]}
        )
        shown = got(service, f"{url}/plots/distribution.svg", **PAIR, metric="ter", test=test)
        assert shown == PICTURES["distribution"].draw(compare(alone), {}, drawn)


def test_a_replaced_system_is_drawn_anew(service, make):
    url = make()
    names = ("matrix.svg", "intervals.svg", "distribution.svg")
    before = [got(service, f"{url}/plots/{name}", **_pair(name)) for name in names]
    changed = SYSTEMS | {FIRST: SYSTEMS[THIRD]}
    put(service, url, FIRST, changed[FIRST])
    after = [got(service, f"{url}/plots/{name}", **_pair(name)) for name in names]
    comparison = parse_comparison(whole(changed, metrics=["bleu"], tests=[TEST]))
    report = compare(comparison)
    drawn = distribute(comparison, FIRST, SECOND, "bleu", TEST)
    assert after == [
        PICTURES["matrix"].draw(report, {}),
        PICTURES["intervals"].draw(report, {}),
        PICTURES["distribution"].draw(report, {}, drawn),
    ]
    assert all(one != other for one, other in zip(before, after, strict=True))
    put(service, url, FIRST, SYSTEMS[FIRST])
    assert [got(service, f"{url}/plots/{name}", **_pair(name)) for name in names] == before


@pytest.mark.parametrize("name", ["matrix.svg", "intervals.svg", "distribution.svg"])
def test_pictures_run_nothing_and_are_kept(service, make, name):
    url = make()
    held = safe_picture(service, f"{url}/plots/{name}", _pair(name))
    put(service, url, FIRST, SYSTEMS[THIRD])
    assert service.get(f"{url}/plots/{name}", params=_pair(name), headers=held).status_code == 200


@pytest.mark.parametrize(
    ("path", "kind", "field"),
    [
        ("plots/matrix.svg?metric=chrf", "invalid-recipe", "metric"),
        ("plots/intervals.svg?test=paired_bootstrap", "invalid-recipe", "test"),
        (
            "plots/intervals.svg?correction=max_t&test=approximate_randomization",
            "invalid-recipe",
            "correction",
        ),
        ("plots/matrix.svg?metrics=bleu", "invalid-recipe", "metrics"),
        ("plots/distribution.svg", "invalid-recipe", "a"),
        ("plots/distribution.svg?a=ordinary", "invalid-recipe", "b"),
        ("plots/distribution.svg?a=ordinary&b=Z", "invalid-recipe", "b"),
        ("plots/distribution.svg?a=ordinary&b=ordinary", "invalid-recipe", "b"),
        ("distribution?a=ordinary&b=Z", "invalid-recipe", "b"),
        ("distribution?a=Z&b=ordinary", "invalid-recipe", "a"),
        ("distribution?a=ordinary&b=Z&width=8cm", "invalid-recipe", "width"),
        ("plots/matrix.svg?testset=news", "invalid-recipe", "testset"),
        ("distribution?a=ordinary&b=%3Dcmd%7Cx&metric=chrf", "invalid-recipe", "metric"),
    ],
)
def test_pictures_of_nothing_are_refused(service, make, path, kind, field):
    errors = problem(service.get(f"{make()}/{path}"), 422, kind)["errors"]
    assert errors[0]["field"] == field


@pytest.mark.parametrize("part", ["a", "testset", "criterion", "width", "title", "omit"])
def test_a_board_is_no_picture(service, make, part):
    told = problem(service.get(make(), params={part: "x"}), 422, "invalid-recipe")
    assert told["errors"][0]["field"] == part


@pytest.mark.parametrize("name", ["matrix.svg", "intervals.svg"])
def test_pictures_need_two_systems(service, make, name):
    url = make({})
    put(service, url, "alone", REFERENCE)
    told = problem(service.get(f"{url}/plots/{name}"), 422, "invalid-input")
    assert "need two systems" in told["detail"]
    pair = {"a": "alone", "b": "other"}
    told = problem(service.get(f"{url}/distribution", params=pair), 422, "invalid-recipe")
    assert "two systems" in told["detail"]


def test_pictures_of_what_is_not_there(service, make, serve):
    url = make()
    problem(service.get(f"{url}/plots/pie.svg"), 422, "invalid-recipe")
    problem(service.get(f"{TESTSETS}/{'0' * 32}/leaderboard/plots/matrix.svg"), 404, "not-found")
    guarded = serve(Settings.model_validate({"SIGTEST_API_KEYS": "ann:1"}))
    other = guarded.get(f"{url}/distribution", params=PAIR, headers={"X-API-Key": "1"})
    problem(other, 404, "not-found")
    service.delete(url.removesuffix("/leaderboard"))
    problem(service.get(f"{url}/plots/distribution.svg", params=PAIR), 410, "gone")


def test_the_command_line_draws_what_compare_draws(service, tmp_path, capsys):
    files = {"ref": REFERENCE, **{f"s{i}": lines for i, lines in enumerate(SYSTEMS.values())}}
    for name, lines in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    server = ["--server", str(service.base_url)]
    reference, *systems = (str(tmp_path / f"{name}.txt") for name in files)
    choices = ["-r", reference, "--resamples", "99", "--exact", "never", "--metric", "ter"]
    assert main(["testset", "create", "--name", "drawn", *choices, *server]) == 0
    testset = capsys.readouterr().out.strip()
    assert main(["submit", testset, *reversed(systems), "--wait", *server]) == 0
    pair = ["--distribution", "s2", "s0"]
    board, compared = (["--plots", str(tmp_path / name), *pair] for name in ("one", "other"))
    assert main(["leaderboard", testset, *board, *server]) == 0
    assert main(["compare", *choices, "--family", "64", *systems, *compared]) == 0
    one, other = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("one", "other")
    )
    assert one == other
    assert len(one) == 3
    capsys.readouterr()
    refused = {
        "--plots DIR": ["--distribution", "s0", "s1"],
        "'s9'": ["--plots", str(tmp_path / "third"), "--distribution", "s0", "s9"],
        "not compared": ["--plots", str(tmp_path / "third"), "--distribution", "s0", "s0"],
    }
    for message, options in refused.items():
        assert main(["leaderboard", testset, *options, *server]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "third").exists()
    for system in ("s1", "s2"):
        service.delete(f"{TESTSETS}/{testset}/systems/{system}")
    drawn = ["--format", "json", "--plots", str(tmp_path / "third")]
    assert main(["leaderboard", testset, *drawn, *server]) == 2
    assert "need two" in capsys.readouterr().err


def _pair(name: str) -> dict[str, str]:
    return PAIR if name.startswith("distribution") else {}


def test_links_and_the_client_lead_to_them(service, make):
    url = make()
    links = service.get(url.removesuffix("/leaderboard")).json()["links"]
    for name in ("matrix", "intervals"):
        assert got(service, links["plots"][name]) == got(service, f"{url}/plots/{name}.svg")
    testset = url.split("/")[3]
    with Client(str(service.base_url)) as client:
        shown = {"metric": "ter", "test": "bootstrap"}
        told = client.leaderboard_distribution(testset, FIRST, SECOND, values=True, **shown)
        drawn = client.leaderboard_plot(testset, "distribution", **PAIR, **shown)
    assert json.dumps(told) == json.dumps(
        service.get(f"{url}/distribution", params={**PAIR, **shown, "values": "true"}).json()
    )
    assert len(told["values"]) == 99
    assert drawn.decode() == got(service, f"{url}/plots/distribution.svg", **PAIR, **shown)
