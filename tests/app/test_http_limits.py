"""Sizes: 413 or 422 naming the limit, without reading or unpacking everything."""

import contextlib
import gzip
import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, problem

from app.http.observing import EXCHANGE, Exchange
from app.http.problems import of_error
from app.requests.limits import check_scores
from app.settings import Settings
from sigtest.errors import LimitError

MIB = 2**20
JSON = {"Content-Type": "application/json"}


def form(content: bytes) -> dict[str, Any]:
    parts = [("references", ("r.txt", b"a\n")), ("systems", ("A.txt", b"a\n"))]
    return {"files": [*parts, ("systems", ("B.txt.gz", gzip.compress(content, 1)))]}


def test_gzip_bomb_is_refused(service, stored):
    before = stored()
    response = service.post(COMPARISONS, **form(b"\n" * (200 * MIB)))
    document = problem(response, 413, "limit-exceeded")
    assert document["limit"] == "max_text_bytes"
    assert "134,217,728" in document["detail"]
    assert document["errors"][0]["field"] == "systems[1]"
    assert stored() == before


def test_one_line_of_100_mb_is_refused(service, stored):
    line = b"x" * 100_000_000
    before = stored()
    plain = service.post(COMPARISONS, files={"systems": ("A.txt", line)})
    assert problem(plain, 413, "limit-exceeded")["limit"] == "max_body_bytes"
    packed = service.post(COMPARISONS, **form(line))
    document = problem(packed, 413, "limit-exceeded")
    assert document["limit"] == "max_archive_ratio"
    assert document["errors"][0] == {"field": "systems[1]", "message": document["detail"]}
    long = service.post(COMPARISONS, files={"systems": ("A.txt", b"x" * 200_000)})
    document = problem(long, 413, "limit-exceeded")
    assert document["limit"] == "max_characters"
    assert (document["errors"][0]["field"], document["errors"][0]["line"]) == ("systems[0]", 1)
    assert stored() == before


def megabytes(count: int) -> Iterator[bytes]:
    return itertools.islice(itertools.repeat(b" " * MIB), count)


def test_a_body_of_unknown_size_is_refused(service):
    response = service.post(COMPARISONS, content=megabytes(100), headers=JSON)
    document = problem(response, 413, "limit-exceeded")
    assert document["limit"] == "max_body_bytes"
    assert "(SIGTEST_MAX_BODY_BYTES)" in document["detail"]


def test_an_endless_body_is_cut_off(service):
    body = megabytes(2000)
    with contextlib.suppress(httpx.TransportError):  # the answer may be lost with the connection
        problem(service.post(COMPARISONS, content=body, headers=JSON), 413, "limit-exceeded")
    assert sum(1 for _ in body) > 1600


def numbered(systems: int, segments: int) -> dict[str, Any]:
    lines = ["a"] * segments
    names = [f"s{i}" for i in range(systems)]
    return {"references": [lines], "systems": [{"name": n, "hypotheses": lines} for n in names]}


@pytest.mark.parametrize(
    ("settings", "change", "status", "limit"),
    [
        ({"max_segments": 2}, {}, 413, "max_segments"),
        ({"max_systems": 2}, {}, 413, "max_systems"),
        ({"max_characters": 2}, {"documents": ["a", "a", "abc"]}, 413, "max_characters"),
        ({"max_metrics": 1}, {"metrics": ["bleu", "ter"]}, 422, "max_metrics"),
        ({"max_resamples": 999}, {"resamples": 1000}, 422, "max_resamples"),
        ({"max_resamples": 999}, {"resamples": "auto"}, 422, "max_resamples"),
        ({"max_scores": 29_996}, {}, 422, "max_scores"),
        ({"max_rows": 5}, {"tests": ["bootstrap", "paired_bootstrap"]}, 422, "max_rows"),
    ],
)
def test_limits_are_settings(serve, stored, settings, change, status, limit):
    client = serve(Settings(**settings))
    before = stored()
    response = client.post(COMPARISONS, json=numbered(3, 3) | change)
    document = problem(response, status, "limit-exceeded")
    assert document["limit"] == limit
    assert f"SIGTEST_{limit.upper()}" in document["detail"]
    assert stored() == before


def test_scores_are_counted_over_systems_metrics_and_resamples(serve):
    client = serve(Settings(max_scores=3 * 2 * 99))
    body = numbered(3, 3) | {"metrics": ["bleu", "ter"], "resamples": 100}
    refused = problem(client.post(COMPARISONS, json=body), 422, "limit-exceeded")
    assert refused["detail"] == (
        "3 x 2 x 100 scores (systems of all test sets, and whatever has standard errors, x metrics "
        "x resamples) are more than "
        "SIGTEST_MAX_SCORES, 594; at most 99 resamples fit."
    )
    assert client.post(COMPARISONS, json=body | {"resamples": 99}).is_success


def test_a_large_shared_task_fits_into_the_defaults():
    check_scores(60, 4, 99_999, Settings())
    with pytest.raises(LimitError, match="at most 62,500 resamples fit"):
        check_scores(100, 4, 99_999, Settings())


def test_pairs_that_have_standard_errors_are_counted(serve):
    client = serve(Settings())
    scores = [float(i) for i in range(10)]
    body = {
        "systems": {f"s{i}": {"scores": {"s": [i + x for x in scores]}} for i in range(35)},
        "metrics": ["scores:of=s"],
        "tests": ["bootstrap_t"],
        "resamples": 79_999,
    }  # 35 systems twice, and 35 x 34 / 2 pairs, are 665
    refused = problem(client.post(COMPARISONS, json=body), 422, "limit-exceeded")
    assert refused["limit"] == "max_scores"
    assert refused["detail"].startswith("665 x 1 x 79,999 scores (")
    assert "whatever has standard errors" in refused["detail"]
    assert refused["detail"].endswith("at most 37,593 resamples fit.")


def test_a_form_with_too_many_systems_is_refused_before_it_is_unpacked(serve):
    client = serve(Settings(max_systems=2))
    files = [("systems", (f"{i}.txt.gz", b"no gzip")) for i in range(3)]
    response = client.post(COMPARISONS, files=files)
    assert problem(response, 413, "limit-exceeded")["limit"] == "max_systems"


def test_text_is_counted_over_all_files(serve):
    client = serve(Settings(max_text_bytes=100))
    files = [("systems", (f"{i}.txt", b"12345\n" * 10)) for i in range(2)]
    response = client.post(COMPARISONS, files=files)
    document = problem(response, 413, "limit-exceeded")
    assert document["limit"] == "max_text_bytes"
    assert document["errors"][0]["field"] == "systems[1]"


def test_a_large_body_with_an_invalid_recipe_is_told_so(service):
    line = "x " * 70
    content = json.dumps(numbered(12, 3003) | {"references": [[line] * 3003], "resamples": 0})
    content = content.replace('"a"', json.dumps(line))
    assert len(content) > 5_000_000
    response = service.post(COMPARISONS, content=content, headers=JSON)
    problem(response, 422, "invalid-recipe")


def test_replicas_count_as_systems_and_their_lines_as_segments(service):
    systems = [{"name": name, "replicas": [["a", "b"]] * 40} for name in "ABCDEF"]
    body = {"references": [["a", "b"]], "systems": systems}
    document = problem(service.post(COMPARISONS, json=body), 413, "limit-exceeded")
    assert document["limit"] == "max_systems"
    systems[1]["replicas"] = [["a", "x" * 200_000]]
    document = problem(service.post(COMPARISONS, json=body), 413, "limit-exceeded")
    assert document["errors"][0]["field"] == "systems[1].replicas[0]"
    assert document["errors"][0]["line"] == 2


def test_settings_are_named_as_operators_set_them_and_files_as_they_are_called():
    words = "max_rows.txt has more than max_text_bytes, 7 (max_body_bytes, max_archive_ratio)."
    EXCHANGE.set(Exchange("test"))
    told = of_error(LimitError(words, limit="max_text_bytes"))
    assert json.loads(bytes(told.body))["detail"] == (
        "max_rows.txt has more than SIGTEST_MAX_TEXT_BYTES, 7 (SIGTEST_MAX_BODY_BYTES, "
        "SIGTEST_MAX_ARCHIVE_RATIO)."
    )
