"""What a board shows is frozen: the same bytes at the same address, whatever comes."""

import os
import shutil
from typing import Any

import httpx
import older
import pytest
from exchange import problem
from service import launched

from sigtest.cli import main
from workers.settings import Settings as QueueSettings

WAIT = {"Prefer": "wait=60"}
REFERENCE = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"]
GOOD = ["a b c d e", "f g h i", "k l m n o", "p q r s t"]
FAIR = ["a b c d", "f g h i j k", "k l n o", "p q r s"]
POOR = ["x b c d", "f g j k", "z z n o", "p q t"]


def board(client: httpx.Client, **more: Any) -> str:
    asked = {"name": f"frozen {os.urandom(6).hex()}", "references": [REFERENCE], "resamples": 99}
    url = client.post("/v1/testsets", json={**asked, **more}).headers["location"]
    for name, lines in (("good", GOOD), ("fair", FAIR)):
        put = client.put(f"{url}/systems/{name}", json={"hypotheses": lines}, headers=WAIT)
        assert put.status_code == 201, put.text
    return str(url)


def frozen(client: httpx.Client, url: str, **notes: Any) -> httpx.Response:
    return client.post(f"{url}/frozen", headers=WAIT, **({"json": notes} if notes else {}))


def content(client: httpx.Client, here: str) -> tuple[bytes, dict[str, Any]]:
    """The report at an address, and what its record says but for who computes now."""
    return client.get(f"{here}/report").raise_for_status().content, client.get(here).json()


def test_a_state_is_frozen_once(service):
    url = board(service)
    shown = service.get(f"{url}/leaderboard", headers=WAIT).json()["comparison"]
    first = frozen(service, url, title="Final results", tags=["wmt"])
    assert first.status_code == 201
    here = first.headers["location"]
    told = first.json()
    assert (told["frozen"], told["title"], told["tags"]) == (True, "Final results", ["wmt"])
    assert (told["expires"], told["expires_at"]) == ("never", "9999-12-31T00:00:00Z")
    assert here == told["links"]["self"] != shown
    assert "testset" not in told["links"]
    assert service.get(f"{here}/report").content == service.get(f"{shown}/report").content
    again = frozen(service, url)
    assert (again.status_code, again.json()["id"]) == (200, told["id"])
    assert again.json()["title"] == "Final results"
    listed = service.get("/v1/comparisons", params={"tag": "wmt"}).json()["comparisons"]
    assert [entry["id"] for entry in listed] == [told["id"]]
    service.put(f"{url}/systems/poor", json={"hypotheses": POOR}, headers=WAIT)
    other = frozen(service, url)
    assert (other.status_code, other.json()["id"] != told["id"]) == (201, True)
    assert other.json()["systems"] == ["fair", "good", "poor"]
    service.patch(here, json={"title": "Renamed"})
    ends = service.patch(here, json={"expires": "2090-01-01"}).json()
    assert (ends["frozen"], ends["expires_at"]) == (True, "2090-01-01T00:00:00Z")
    assert service.patch(here, json={"expires": "never"}).json()["expires_at"].startswith("9999")
    for made in (here, other.headers["location"]):
        assert service.delete(made).status_code == 204
        problem(service.get(made), 410, "gone")
    assert service.get(f"{url}/leaderboard").json()["comparison"]


def test_nothing_changes_what_is_frozen(service):
    url = board(service)
    here = frozen(service, url).headers["location"]
    before = content(service, here)
    csv = service.get(f"{here}/report?format=csv").text
    service.patch(url, json={"resamples": 199})
    service.put(f"{url}/systems/good?replace=true", json={"hypotheses": POOR}, headers=WAIT)
    service.delete(f"{url}/systems/fair")
    assert content(service, here) == before
    assert service.delete(url).status_code == 204
    assert content(service, here) == before
    assert service.get(f"{here}/report?format=csv").text == csv
    assert service.get(before[1]["links"]["plots"]["matrix"]).is_success
    page = service.get(here.removeprefix("/v1"), headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "Frozen" in page.text
    service.delete(here)


def test_a_board_with_nothing_to_show_is_not_frozen(service):
    asked = {"name": f"empty {os.urandom(6).hex()}", "references": [REFERENCE], "resamples": 99}
    url = service.post("/v1/testsets", json=asked).headers["location"]
    none = service.post(f"{url}/frozen", headers={"Prefer": "wait=5"})
    problem(none, 409, "not-ready")
    service.put(f"{url}/systems/a", json={"hypotheses": GOOD})
    waited = service.post(f"{url}/frozen", headers={"Prefer": "wait=0"})
    assert waited.status_code in (201, 409)
    assert frozen(service, url).status_code in (200, 201)  # scores of one system
    problem(service.post(f"/v1/testsets/{'0' * 32}/frozen"), 404, "not-found")
    problem(frozen(service, url, expires="2090-01-01"), 422, "invalid-recipe")


def test_pages_freeze(pages, service):
    there = f"/boards/{board(service).rpartition('/')[2]}"
    assert f'action="{there}/frozen"' in pages.get(there).text
    made = pages.post(f"{there}/frozen", headers={"Sec-Fetch-Site": "same-origin"})
    assert made.status_code == 303
    assert "kept for good" in pages.get(made.headers["location"]).text


def test_what_is_frozen_is_verified_from_its_files(service, tmp_path):
    url = board(service)
    here = frozen(service, url).headers["location"]
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("fair", FAIR)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    report = tmp_path / "report.json"
    report.write_bytes(service.get(f"{here}/report").content)
    files = [str(tmp_path / f"{name}.txt") for name in ("fair", "good")]
    command = ["verify", str(report), "-r", str(tmp_path / "ref.txt")]
    assert main([*command, *files]) == 0
    (tmp_path / "good.txt").write_text("".join(f"{line}\n" for line in POOR))
    assert main([*command, *files]) == 1


@pytest.mark.slow
def test_it_survives_an_upgrade_a_restart_and_a_restored_backup(tmp_path):
    (tmp_path / "older").mkdir()
    settings = QueueSettings(state=tmp_path / "state", workers=1)
    with (
        older.served(older.tree(tmp_path / "older"), settings) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        testset = board(client)
        here = frozen(client, testset).headers["location"]
        asked = {
            "references": [REFERENCE],
            "systems": {"good": GOOD, "fair": FAIR},
            "resamples": 99,
            "expires": "never",
        }
        lasting = client.post("/v1/comparisons", json=asked, headers=WAIT).json()["links"]["self"]
        before = [content(client, address) for address in (here, lasting)]
    assert [told["computed_with"] for _, told in before] == [older.VERSION] * 2

    def unchanged(client: httpx.Client) -> bool:
        return [content(client, address) for address in (here, lasting)] == before

    with launched(settings) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        shown = client.get(f"{testset}/leaderboard", headers=WAIT)  # which is computed anew
        assert client.get(shown.json()["comparison"]).json()["computed_with"] != older.VERSION
        assert unchanged(client)
        assert client.delete(testset).status_code == 204
        assert unchanged(client)
        backup = tmp_path / "backup" / "valkey"
        shutil.copytree(settings.state / "valkey" / "appendonlydir", backup / "appendonlydir")
    with launched(settings) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        assert unchanged(client)
        assert client.delete(here).status_code == client.delete(lasting).status_code == 204
    restored = settings.model_copy(update={"state": tmp_path / "backup"})
    with launched(restored) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        assert unchanged(client)
