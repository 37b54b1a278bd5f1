"""The client and `--server` against a real service."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas
import pytest
from computed import rendered

import sigtest
from sigtest.cli import main
from sigtest.client import Client
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError, LimitError, ServiceError
from sigtest.render.formats import FORMATS
from sigtest.report import Report


@pytest.fixture
def client(service: httpx.Client) -> Iterator[Client]:
    with Client(str(service.base_url)) as made:
        yield made


def test_the_service_gives_the_bytes_of_the_library(client, body):
    comparison = parse_comparison(body)
    stored = client.report(client.run(comparison))
    assert stored.decode() == rendered("json", compare(comparison))
    assert client.compare(comparison) == sigtest.compare(**body)


def test_distributions_belong_to_their_report(client, body):
    status = client.submit(parse_comparison(body))
    while status["status"] in {"queued", "running"}:
        status = client.status(status["id"])
    report = Report.from_json(json.loads(client.report(status["id"])))
    pair = report.pairs[0]
    drawn = client.distribution(status["id"], pair.a, pair.b, pair.metric, pair.test, values=True)
    assert drawn["observed"] == pair.difference
    assert len(drawn["values"]) == 99
    assert client.report(status["id"], "csv").decode() == rendered("csv", report)


def test_a_removed_comparison_is_gone(client, body):
    status = client.submit(parse_comparison({**body, "seed": 77}))
    while status["status"] in {"queued", "running"}:
        status = client.status(status["id"])
    client.remove(status["id"])
    with pytest.raises(ServiceError):
        client.report(status["id"])


def test_scores_alone_may_be_sent(client):
    systems = [
        {"name": name, "scores": {"comet": [0.1 * i + shift for i in range(9)]}}
        for name, shift in (("A", 0.0), ("B", 0.05))
    ]
    comparison = parse_comparison({"systems": systems, "metrics": ["scores:of=comet"]})
    stored = client.report(client.run(comparison))
    assert stored.decode() == rendered("json", compare(comparison))


def test_requests_may_hold_what_notebooks_compute_with(client, body):
    columns = {own["name"]: pandas.Series(own["hypotheses"]) for own in body["systems"]}
    asked = {**body, "references": np.array(body["references"]), "systems": columns}
    assert client.compare({**asked, "seed": np.int64(12345)}) == sigtest.compare(**body)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Path("reference.en"), "it has a PosixPath"),
        (["\ud800"], "surrogates not allowed"),
        ([float("nan")], "not JSON compliant"),
    ],
)
def test_what_json_cannot_hold_is_told_before_it_is_sent(client, body, given, said):
    with pytest.raises(InputError, match=f"The request cannot be sent as JSON: .*{said}"):
        client.compare({**body, "references": given})


@pytest.mark.parametrize("form", FORMATS)
def test_server_prints_what_this_process_prints(service, example, form, capfdbinary):
    systems = [str(example / "systems" / f"{name}.en") for name in ("aspen", "birch", "elm")]
    command = ["compare", "-r", str(example / "reference.en"), *systems, "--format", form]
    command += ["--metric", "bleu", "--metric", "ter", "--resamples", "999"]
    assert main(command) == 0
    here = capfdbinary.readouterr()
    assert main([*command, "--server", str(service.base_url)]) == 0
    assert capfdbinary.readouterr() == here
    assert here.err == b""


def test_limits_of_the_service_are_one_clear_line(client):
    systems = [{"name": f"S{i}", "hypotheses": ["a b", "c d"]} for i in range(201)]
    with pytest.raises(LimitError, match="SIGTEST_MAX_SYSTEMS") as raised:
        client.submit(parse_comparison({"references": [["a", "b"]], "systems": systems}))
    assert raised.value.limit == "max_systems"
