"""Pages of other origins may ask where the operator says so, and nowhere else."""

import pytest

from app.settings import Settings
from workers.errors import SettingError

BOARD = "https://board.example"
ASKING = {
    "Origin": BOARD,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type,x-api-key",
}


def test_other_origins_are_refused_by_default(service):
    asked = service.options("/v1/comparisons", headers=ASKING)
    got = service.get("/v1/comparisons", headers={"Origin": BOARD})
    assert asked.status_code == got.status_code == 403
    for answer in (asked, got):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_an_origin_that_may_ask(serve):
    client = serve(Settings(cors_origins=(BOARD,)))
    asked = client.options("/v1/comparisons", headers=ASKING)
    got = client.get("/v1/comparisons", headers={"Origin": BOARD})
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == BOARD
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert "x-api-key" in asked.headers["access-control-allow-headers"]
    assert got.headers["access-control-allow-origin"] == BOARD
    assert "Location" in got.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in got.headers
    other = client.get("/v1/comparisons", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in other.headers


def test_pages_read_every_header_that_the_document_tells(serve):
    client = serve(Settings(cors_origins=(BOARD,)))
    got = client.get("/openapi.json", headers={"Origin": BOARD})
    exposed = set(got.headers["access-control-expose-headers"].split(", "))
    for methods in got.json()["paths"].values():
        for operation in methods.values():
            for answer in operation["responses"].values():
                assert set(answer["headers"]) <= exposed


def test_refusals_reach_the_other_origin_too(serve):
    client = serve(Settings(cors_origins=("*",)))
    problem = client.get("/v1/comparisons/unknown", headers={"Origin": BOARD})
    assert problem.status_code == 404
    assert problem.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("origin", ["board.example", "https://board.example/path", "ftp://x"])
def test_what_is_no_origin_is_refused(origin):
    with pytest.raises(SettingError, match="origins such as"):
        Settings.model_validate({"SIGTEST_CORS_ORIGINS": f"{BOARD}, {origin}"})


def test_origins_are_read_from_the_environment():
    settings = Settings.model_validate({"SIGTEST_CORS_ORIGINS": f" {BOARD} ,http://127.0.0.1:3000"})
    assert settings.cors_origins == (BOARD, "http://127.0.0.1:3000")
