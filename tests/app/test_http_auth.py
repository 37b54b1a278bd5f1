"""Keys: who may ask, and whose comparisons are whose."""

from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, Serve, Stored, problem

from app.settings import Settings

KEYS = Settings(api_keys=(("ann", "secret-a"), ("bob", "secret-b")))
ANN = {"Authorization": "Bearer secret-a"}
BOB = {"X-API-Key": "secret-b"}


@pytest.fixture
def guarded(serve: Serve) -> httpx.Client:
    return serve(KEYS)


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"X-API-Key": ""}, {"Authorization": "Basic secret-a"}],
)
def test_a_key_is_needed(
    guarded: httpx.Client, stored: Stored, body: dict[str, Any], headers: dict[str, str]
) -> None:
    before = stored()
    response = guarded.post(COMPARISONS, json=body | {"seed": 300}, headers=headers)
    problem(response, 401, "unauthorized")
    assert response.headers["www-authenticate"].startswith("Bearer")
    problem(guarded.get(COMPARISONS, headers=headers), 401, "unauthorized")
    assert stored() == before


def test_probes_need_no_key(guarded: httpx.Client) -> None:
    assert guarded.get("/").status_code == 200
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/readyz").status_code == 200


def test_callers_do_not_see_each_other(guarded: httpx.Client, body: dict[str, Any]) -> None:
    headers = ANN | {"Prefer": "wait=30"}
    url = guarded.post(COMPARISONS, json=body, headers=headers).headers["location"]
    assert guarded.get(url, headers=ANN).status_code == 200
    for path in ("", "/report", "/events"):
        problem(guarded.get(url + path, headers=BOB), 404, "not-found")
    problem(guarded.delete(url, headers=BOB), 404, "not-found")
    assert guarded.get(COMPARISONS, headers=BOB).json()["comparisons"] == []
    other = guarded.post(COMPARISONS, json=body, headers=BOB).headers["location"]
    assert other != url
