"""Signing in with a key, sessions, and links that everybody may follow."""

import re
from collections.abc import Iterator

import httpx
import pytest
from exchange import ServeOn, problem, submit

from app.settings import Settings
from workers.access import digest_of
from workers.settings import Settings as QueueSettings

SECRET = "a-key-for-tests"
BROWSER = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def closed(
    serve_on: ServeOn, queue: QueueSettings, service: httpx.Client
) -> Iterator[httpx.Client]:
    """A service with keys, seen from a browser."""
    settings = Settings(api_keys=(("ada", digest_of(SECRET)), ("bob", digest_of("other"))))
    url = serve_on(settings, queue).base_url
    with httpx.Client(base_url=url, headers=BROWSER, timeout=60) as client:
        yield client


def sign_in(client: httpx.Client, key: str = SECRET, **form: str) -> httpx.Response:
    return client.post("/sign-in", data={"key": key, **form})


def test_without_a_key_pages_lead_to_where_one_is_given(closed):
    answer = closed.get("/comparisons?limit=5")
    assert answer.status_code == 401
    assert "/sign-in?next=%2Fcomparisons%3Flimit%3D5" in answer.text
    assert "holders of a key" in answer.text
    assert "Bearer" not in answer.text  # what programs send helps nobody here
    assert closed.get("/").status_code == 200


def test_a_key_begins_a_session(closed):
    answer = sign_in(closed, next="/comparisons")
    assert (answer.status_code, answer.headers["location"]) == (303, "/comparisons")
    cookie = answer.headers["set-cookie"]
    assert SECRET not in cookie
    assert {"HttpOnly", "SameSite=lax"} <= set(cookie.split("; "))
    listed = closed.get("/comparisons")
    assert listed.status_code == 200
    assert "ada" in listed.text


def test_a_session_opens_pages_and_nothing_else(closed):
    sign_in(closed)
    json = {"Accept": "application/json"}
    assert closed.get("/comparisons", headers=json).status_code == 200
    problem(closed.get("/v1/comparisons", headers=json), 401, "unauthorized")


def test_a_session_is_over_when_its_holder_says_so(closed):
    sign_in(closed)
    token = closed.cookies["sigtest_session"]
    assert closed.post("/sign-out").status_code == 303
    closed.cookies.set("sigtest_session", token)
    assert closed.get("/comparisons").status_code == 401


def test_wrong_keys_begin_nothing(closed):
    answer = sign_in(closed, "wrong")
    assert answer.status_code == 401
    assert "No such key" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil"])
def test_signing_in_leads_nowhere_else(closed, elsewhere):
    assert sign_in(closed, next=elsewhere).headers["location"] == "/"


def test_other_sites_cannot_use_a_session(closed):
    sign_in(closed)
    foreign = {"Sec-Fetch-Site": "cross-site"}
    asked = closed.post("/comparisons", data={"example": "shared-task"}, headers=foreign)
    assert asked.status_code == 403
    assert closed.post("/sign-out", headers=foreign).status_code == 403
    assert closed.get("/comparisons").status_code == 200


def test_a_report_is_its_callers_alone_until_it_has_a_link(closed, body):
    key = {"Authorization": f"Bearer {SECRET}", "Accept": "application/json"}
    with httpx.Client(base_url=closed.base_url, headers=key, timeout=60) as ada:
        made = submit(ada, body).json()
    own = f"/comparisons/{made['id']}"
    sign_in(closed, "other")
    assert closed.get(own).status_code == 404
    sign_in(closed)
    assert "/shared/" not in closed.get(own).text
    assert closed.post(f"{own}/share").status_code == 303
    found = re.search(r'href="(/shared/[^"]+)"', closed.get(own).text)
    assert found is not None
    assert closed.post(f"{own}/share").status_code == 303
    assert found[1] in closed.get(own).text  # the link stays the same

    with httpx.Client(base_url=closed.base_url, headers=BROWSER, timeout=60) as stranger:
        shared = stranger.get(found[1])
        assert shared.status_code == 200
        assert "A and B" in shared.text
        assert "k l m n" not in shared.text
        assert "delete" not in shared.text.lower()
        assert shared.headers["x-robots-tag"] == "noindex"
        assert stranger.get(f"{found[1]}/pictures/intervals.svg").status_code == 200
        download = stranger.get(f"{found[1]}/report?format=json")
        assert [system["name"] for system in download.json()["systems"]] == ["A", "B"]
        (name,) = re.findall(r"sigtest verify (\S+)", shared.text)  # the file as it is saved
        assert f'filename="{name}"' in download.headers["content-disposition"]
        assert stranger.get(own).status_code == 401

        assert closed.post(f"{own}/unshare").status_code == 303
        assert stranger.get(found[1]).status_code == 404
        assert stranger.get(f"{found[1]}/report").status_code == 404


@pytest.mark.parametrize("link", ["0" * 32, "0" * 54, "short", "%F0%9F%98%80" * 20])
def test_links_cannot_be_guessed(pages, link):
    assert pages.get(f"/shared/{link}").status_code == 404


def test_the_id_alone_is_no_link(pages, body):
    made = submit(pages, body).json()
    pages.post(f"/comparisons/{made['id']}/share", headers=BROWSER)
    assert pages.get(f"/shared/{made['id']}").status_code == 404


def test_what_is_too_large_is_told_on_a_page_and_to_programs_as_a_problem(serve_on, queue, service):
    url = serve_on(Settings(max_body_bytes=1000), queue).base_url
    large = {"files": ("reference.txt", b"a b c\n" * 1000)}
    with httpx.Client(base_url=url, headers=BROWSER, timeout=60) as client:
        answer = client.post("/comparisons", files=large, headers={"Accept": "text/html"})
        assert answer.status_code == 413
        assert answer.headers["content-type"].startswith("text/html")
        assert (
            "larger than 1,000 bytes, the most that this service takes (SIGTEST_MAX_BODY_BYTES)"
            in answer.text
        )
        json = {"Accept": "application/json"}
        refused = client.post("/v1/comparisons", files=large, headers=json)
        problem(refused, 413, "limit-exceeded")


def test_who_is_signed_in_is_told_on_every_page(serve_on, queue, service):
    """On those of problems, too, and whatever is found before anybody asks who it is."""
    settings = Settings(api_keys=(("ada", digest_of(SECRET)),), max_body_bytes=1000)
    url = serve_on(settings, queue).base_url
    large = {"files": ("reference.txt", b"a b c\n" * 1000)}
    with httpx.Client(base_url=url, headers=BROWSER, timeout=60) as client:
        assert "Sign out" not in client.post("/comparisons", files=large).text
        sign_in(client)
        pages = [client.get(path) for path in ("/", "/api", "/sign-in", "/none", "/shared/none")]
        pages.append(client.post("/comparisons", files=large))
        assert [page.status_code for page in pages] == [200, 200, 200, 404, 404, 413]
        assert all("ada <button" in page.text for page in pages)


def test_problems_say_what_to_do_next(serve_on, queue, service):
    settings = Settings(api_keys=(("eve", digest_of(SECRET)),))  # who has nothing unfinished
    url = serve_on(settings, queue.model_copy(update={"pending": 1})).base_url
    with httpx.Client(base_url=url, headers=BROWSER, timeout=60) as client:
        sign_in(client)
        unknown = client.get(f"/comparisons/{'0' * 32}")
        assert "another key is not found either" in unknown.text
        assert "another key" not in client.get("/shared/none").text
        key = {"Authorization": f"Bearer {SECRET}", "Accept": "application/json"}
        lines = [f"{i} a b c d" for i in range(3000)]
        systems = [
            {"name": name, "hypotheses": [f"{name} {own}" for own in lines]} for name in "ab"
        ]
        long = {"references": [lines], "systems": systems, "resamples": 900_000}
        made = client.post("/v1/comparisons", json=long, headers=key).json()
        refused = client.post("/comparisons", data={"example": "shared-task"})
        client.delete(made["links"]["self"], headers=key)
    assert refused.status_code == 429
    seconds = int(refused.headers["retry-after"])
    assert f"send it again in {seconds} s: what you chose is still there" in refused.text
