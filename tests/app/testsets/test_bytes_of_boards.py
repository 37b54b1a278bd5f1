"""Leaderboards of a running service, byte for byte what they were, whatever happened before."""

import time
from typing import Any

import httpx
from corpus import content
from hashes import require_unchanged

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

WAIT = {"Prefer": "wait=60"}
REPORT = ("testset", "alpha", "correction", "experimentwise_error", "metrics", "systems", "pairs")
RANDOMIZATION, BOOTSTRAP = "approximate_randomization", "bootstrap"
BOTH = [RANDOMIZATION, BOOTSTRAP]
ORDER = ("gamma", "echo", "alpha", "delta", "beta")  # of arrival


class Board:
    """A test set on a service, and the systems that a request for a comparison would have."""

    def __init__(self, client: httpx.Client, name: str, **settings: Any) -> None:
        self.client = client
        settings.setdefault("capacity", len(ORDER))  # the family that reports of 0.1.0 had
        settings.setdefault("unit", "segment")  # which was usual then
        made = content(1, settings.get("replicas", 0))
        self.systems = {system.pop("name"): system for system in made.pop("systems")}
        answer = client.post("/v1/testsets", json={"name": name, **made, **settings})
        assert answer.status_code == 201, answer.text
        self.url = answer.headers["location"]

    def put(self, name: str, of: str | None = None) -> None:
        """Let a system come, or replace it, with its own content or another's."""
        url = f"{self.url}/systems/{name}?replace=true"
        answer = self.client.put(url, json=self.systems[of or name], headers=WAIT)
        assert answer.status_code in {200, 201}, answer.text

    def shown(self, *choices: dict[str, Any]) -> list[dict[str, Any]]:
        """The reports that the leaderboard shows for each choice, once all systems are measured."""
        return [self._report(choice) for choice in choices]

    def _report(self, choice: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self.client.get(f"{self.url}/leaderboard", params=choice)
            if answer.status_code == 200 and not answer.json()["pending"]:
                return {field: answer.json()[field] for field in REPORT}
            time.sleep(0.02)
        raise AssertionError(answer.text)


def test_leaderboard_after_joins_is_what_it_was(service, tmp_path):
    metrics = ["bleu", "nist", "scores:of=gain"]
    board = Board(service, "joins", metrics=metrics, tests=BOTH, resamples=2500)
    for name in ORDER:
        board.put(name)
    shown = board.shown(
        {},
        {"metric": "nist", "test": BOOTSTRAP, "correction": "bonferroni", "alpha": 0.2},
        {"metric": "gain", "correction": "benjamini_yekutieli", "alpha": 0.01},
    )
    require_unchanged("leaderboard after joins", shown, tmp_path)


def test_leaderboard_of_shares_and_many_resamples_is_the_comparison(service):
    """More resamples than intervals take, and prints although nothing is to be exact."""
    choices = {"metrics": ["scores:of=accuracy", "chrf"], "resamples": 10_499, "exact": "never"}
    board = Board(service, "shares", **choices)
    for name in ORDER:
        board.put(name)
    made = content(1)
    made["systems"] = sorted(made["systems"], key=lambda system: system["name"])
    report = compare(
        parse_comparison({**made, **choices, "unit": "segment", "family": len(ORDER)})
    ).as_json()
    for metric in ("accuracy", "chrf"):
        (shown,) = board.shown({"metric": metric})
        expected = [pair for pair in report["pairs"] if pair["metric"] == metric]
        fields = ("a", "b", "ci", "count", "p_value", "p_adjusted")
        assert [[pair[field] for field in fields] for pair in shown["pairs"]] == [
            [pair[field] for field in fields] for pair in expected
        ]


def test_leaderboard_after_a_replacement_is_what_it_was(service, tmp_path):
    settings = {"metrics": ["ter", "chrf++"], "tests": BOTH, "unit": "document", "seed": 7}
    sizes = {"resamples": 1500, "capacity": len(ORDER) + 2}  # what left stays in the family
    board = Board(service, "replacement", alternative="greater", **sizes, **settings)
    for name in ORDER:
        board.put(name)
    board.put("gamma", of="echo")
    assert service.delete(f"{board.url}/systems/alpha").status_code == 204
    board.put("zeta", of="gamma")
    shown = board.shown(
        {"metric": "ter"},
        {"metric": "ter", "test": BOOTSTRAP, "correction": "sidak"},
        {"metric": "chrf++", "correction": "none"},
    )
    require_unchanged("leaderboard after a replacement", shown, tmp_path)


def test_leaderboard_after_a_raise_is_what_it_was(service, tmp_path):
    metrics, tests = ["chrf", "fscore:of=relations"], [BOOTSTRAP, "paired_bootstrap"]
    board = Board(service, "raise", metrics=metrics, tests=tests, stratified=True, resamples=999)
    for name in ORDER[:4]:
        board.put(name)
    answer = service.patch(board.url, json={"resamples": 4200})
    assert answer.status_code == 200, answer.text
    board.put("beta")
    shown = board.shown(
        {"metric": "chrf", "test": BOOTSTRAP},
        {"metric": "relations", "test": "paired_bootstrap", "correction": "hochberg"},
    )
    require_unchanged("leaderboard after a raise", shown, tmp_path)


def test_leaderboard_with_replicas_is_what_it_was(service, tmp_path):
    settings = {"metrics": ["bleu", "ter"], "tests": BOTH, "replicas": 2}
    board = Board(service, "replicas", resamples=1999, **settings)
    for name in ORDER:
        board.put(name)
    shown = board.shown(
        {"metric": "bleu"},
        {"metric": "ter", "correction": "bonferroni"},
        {"metric": "bleu", "test": BOOTSTRAP, "alpha": 0.1},
    )
    require_unchanged("leaderboard with replicas", shown, tmp_path)
