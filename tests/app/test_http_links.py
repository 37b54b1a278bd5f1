"""Public links of reports and boards: what everybody reads, and whose pages may show it."""

import os
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, problem, submit

from sigtest.render.formats import FORMATS

SITE, OTHER = "https://wmt.example", "https://elsewhere.example"
WAIT = {"Prefer": "wait=60"}
PAGE = {"Accept": "text/html"}
SECRETS = ("zymurgy", "quokka", "bezoar", "xyloid")  # of reference, output, document and source


def lines(word: str, **changed: str) -> list[str]:
    made = [f"{word} the cat sat on a mat {i} {word}" for i in range(4)]
    return [changed.get(f"l{i}", line) for i, line in enumerate(made)]


@pytest.fixture(params=["comparison", "board", "race"])
def own(service: httpx.Client, request: pytest.FixtureRequest) -> str:
    """A comparison, board or race of two systems, with words of their own; its address."""
    reference, output, document, source = SECRETS
    texts = {
        "references": [lines(reference)],
        "documents": [f"{document}{i // 2}" for i in range(4)],
        "source": lines(source),
    }
    if request.param == "race":
        racing = {
            "name": f"public {os.urandom(6).hex()}",
            "systems": ["good", "poor"],
            "scale": [0, 1],
        }
        url = str(service.post("/v1/races", json=racing).headers["location"])
        items = [f"{source} {i}" for i in range(9)]
        batch = {"good": dict.fromkeys(items, 1), "poor": dict.fromkeys(items, 0)}
        service.post(f"{url}/observations", json={"scores": batch})
        assert not service.get(url, headers=WAIT).json()["pending"]
        return url
    outputs = {"good": lines(output), "poor": lines(output, l0="", l1=f"<b>{output}</b> \ufffd")}
    if request.param == "comparison":
        seed = int.from_bytes(os.urandom(4))
        asked = {**texts, "systems": outputs, "resamples": 99, "seed": seed}
        return str(submit(service, asked).json()["links"]["self"])
    asked = {"name": f"public {os.urandom(6).hex()}", **texts, "resamples": 99}
    url = str(service.post("/v1/testsets", json=asked).headers["location"])
    for name, hypotheses in outputs.items():
        put = service.put(f"{url}/systems/{name}", json={"hypotheses": hypotheses}, headers=WAIT)
        assert put.status_code == 201, put.text
    return url


def linked(service: httpx.Client, url: str, *origins: str) -> str:
    body: dict[str, Any] = {"json": {"origins": origins}} if origins else {}
    answer = service.put(f"{url}/link", **body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["origins"] == [*origins]
    return str(answer.json()["address"])


def public(service: httpx.Client, link: str) -> list[tuple[str, dict[str, str]]]:
    """Every address below a link."""
    if "burn_in" in service.get(link).json():  # of a race
        formats = [(f"{link}/report?format={name}", {}) for name in ("html", "csv", "json")]
        return [(link, PAGE), (link, {}), *formats, (f"{link}/pictures/race.svg", {})]
    formats = [(f"{link}/report?format={name}", {}) for name in FORMATS]
    pictures = [(f"{link}/pictures/{name}.svg", {}) for name in ("intervals", "matrix")]
    badge = f"{link}/pictures/badge.svg?system=good"
    return [(link, PAGE), (link, {}), (f"{link}?beside=1", PAGE), *formats, *pictures, (badge, {})]


def test_a_link_is_given_read_and_taken_back(service, own):
    problem(service.get(f"{own}/link"), 404, "not-found")
    link = linked(service, own)
    assert linked(service, own, SITE) == link
    assert service.get(f"{own}/link").json() == {"address": link, "origins": [SITE]}
    assert service.get(link).json()["systems"][0]["name"] == "good"
    assert service.delete(f"{own}/link").status_code == 204
    problem(service.get(link), 404, "not-found")
    problem(service.get(f"{own}/link"), 404, "not-found")
    assert linked(service, own) != link


def test_no_text_leaves_in_any_format(service, own):
    link = linked(service, own, "*")
    for address, headers in public(service, link):
        answer = service.get(address, headers=headers)
        assert answer.status_code == 200, (address, answer.text)
        found = [word for word in SECRETS if word in answer.text]
        assert not found, (address, found)
    for part in ("segments", "pairs", "contents", "systems", "distribution", "leaderboard"):
        assert service.get(f"{link}/{part}?a=good&b=poor").status_code == 404
    # nor do pairs open there
    opened = service.get(f"{link}?a=good&b=poor", headers=PAGE).text
    assert not [word for word in SECRETS if word in opened]


def test_nothing_is_sent_twice(service, own):
    link = linked(service, own)
    for address, headers in public(service, link):
        tag = service.get(address, headers=headers).headers["etag"]
        again = service.get(address, headers={**headers, "If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b""), address
        assert again.headers["etag"] == tag


@pytest.mark.parametrize("origins", [(), (SITE,), ("*",)])
def test_other_sites_show_it_where_its_owner_lets_them(service, own, origins):
    link = linked(service, own, *origins)
    framed = " ".join(origins) or "'none'"
    for address, headers in public(service, link):
        for origin in (SITE, OTHER):
            answer = service.get(address, headers={**headers, "Origin": origin})
            told = answer.headers.get("access-control-allow-origin")
            allowed = "*" if "*" in origins else SITE if (*origins, *()) == (SITE,) else None
            assert told == (allowed if origin == SITE or allowed == "*" else None), address
            assert "Origin" in answer.headers["vary"]
            assert answer.headers["content-security-policy"].count("frame-ancestors") == 1
            assert answer.headers["content-security-policy"].endswith(f"frame-ancestors {framed}")
            shown = "cross-origin" if origins else "same-origin"
            assert answer.headers["cross-origin-resource-policy"] == shown
            assert "access-control-allow-credentials" not in answer.headers


def test_a_boards_link_stays_when_systems_come(service):
    asked = {"name": "growing", "references": [lines("r")], "resamples": 99}
    url = service.post("/v1/testsets", json={**asked, "seed": 4}).headers["location"]
    link = linked(service, url)
    seen = []
    for name in ("a", "b", "c"):
        body = {"hypotheses": lines("r", l0=name)}
        service.put(f"{url}/systems/{name}", json=body, headers=WAIT)
        service.get(f"{url}/leaderboard", headers=WAIT)
        answer = service.get(link)
        seen.append((answer.headers["etag"], [own["name"] for own in answer.json()["systems"]]))
    assert [names for _, names in seen] == [["a"], ["a", "b"], ["a", "b", "c"]]
    assert len({tag for tag, _ in seen}) == 3
    page = service.get(link, headers=PAGE).text
    assert "<h1>growing</h1>" in page
    assert "Submit" not in page
    service.delete(url)
    problem(service.get(link), 404, "not-found")


@pytest.mark.parametrize(
    "origin",
    ["wmt.example", "https://a/path", "https://a; script-src *", "ftp://a", "null", "https://a b"],
)
def test_what_is_no_origin_is_refused(service, body, origin):
    url = submit(service, body).json()["links"]["self"]
    told = problem(service.put(f"{url}/link", json={"origins": [origin]}), 422, "invalid-recipe")
    assert told["errors"][0]["field"] == "origins[0]"


def test_links_of_what_is_not_there(service):
    for path in (COMPARISONS, "/v1/testsets"):
        for method in ("GET", "PUT", "DELETE"):
            problem(service.request(method, f"{path}/{'0' * 32}/link"), 404, "not-found")


def test_pages_give_and_take_links(pages, service, own):
    here = own.removeprefix("/v1").replace("/testsets/", "/boards/")
    same = {"Sec-Fetch-Site": "same-origin"}
    form = {"origins": f"{SITE}, {OTHER}"}
    assert pages.post(f"{here}/share", data=form, headers=same).status_code == 303
    told = service.get(f"{own}/link").json()
    assert told["origins"] == [SITE, OTHER]
    page = pages.get(here).text
    assert f'href="{told["address"]}"' in page
    assert f'value="{SITE}, {OTHER}"' in page
    assert pages.post(f"{here}/unshare", headers=same).status_code == 303
    assert service.get(told["address"]).status_code == 404


def test_a_link_shows_no_board_before_its_task_is_published(service):
    asked = {"name": f"blind {os.urandom(6).hex()}", "references": [lines("r")], "resamples": 99}
    url = str(service.post("/v1/testsets", json=asked).headers["location"])
    held = {"name": "task", "testsets": {"news": url.rpartition("/")[2]}}
    task = service.post("/v1/tasks", json=held).headers["location"]
    link = linked(service, url)
    for name in "ab":
        body = {"hypotheses": lines("r", l0=name)}
        service.put(f"{url}/systems/{name}", json=body, headers=WAIT)
    for address, headers in public(service, link):
        answer = service.get(address.replace("system=good", "system=a"), headers=headers)
        assert answer.status_code == 409, address
    assert service.patch(task, json={"published": True}).is_success
    assert [own["name"] for own in service.get(link).json()["systems"]] == ["a", "b"]
    service.delete(task)
