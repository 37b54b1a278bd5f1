"""Every address that answers with a page, filled with names and texts that mean harm.

Nothing that was uploaded may run, load or turn the page round; nobody may be shut out; and the
policy of the page must have nothing to report.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest
from browsing import visit
from sentences import sentences

from app.http.negotiation import PROGRAMS
from app.main import create_app
from sigtest.kinds import KINDS

BROWSER = {"Sec-Fetch-Site": "same-origin"}
WAIT = {"Prefer": "wait=60"}
MARKUP = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
# names of systems and metrics: quotes and angle brackets are refused in these
HARM = {
    "A": "{{7*7}} ${7*7}",
    "B": "javascript:alert(3)",
    "C": "\u05d0\u05d1 onfocus=alert(4) autofocus",
    "D": "x" * 200,  # as long as a name may be
    "comet": "a&lt;b;c=%00",
    "w1": MARKUP,
}
TEXTS = [f"{MARKUP} one two three", "\u202eright to left \u2066", "plain words " * 90]
ENVELOPE = {"title": MARKUP, "tags": [MARKUP[:50], "t" * 50]}
# answers that are not pages: files, pictures, reports, events
OTHERS = ("/{name}", "/report", ".svg", "/events")


def harmful(value: Any) -> Any:
    """A documented example whose names mean harm."""
    if isinstance(value, dict):
        return {HARM.get(key, key): harmful(own) for key, own in value.items()}
    if isinstance(value, list):
        return [harmful(own) for own in value]
    return HARM.get(value, value) if isinstance(value, str) else value


def comparison() -> dict[str, Any]:
    systems = [
        {"name": HARM[name], "hypotheses": [f"{i} {line}" for line in TEXTS]}
        for i, name in enumerate("ABCD")
    ]
    return {
        "references": [TEXTS],
        "documents": [MARKUP, MARKUP, "\u202e"],
        "systems": systems,
        "metrics": ["bleu", "ter"],
        "resamples": 99,
    }


DEADLINE = "2099-05-01T23:59:00-12:00"


def asked(client: httpx.Client, path: str, body: dict[str, Any]) -> str:
    """Ask a question with harmful names; the address of its page."""
    made = client.post(f"/v1/{path}", json={**body, **ENVELOPE}, headers=WAIT)
    assert made.json().get("status") == "succeeded", made.text
    return f"/{path}/{made.json()['id']}"


def board_of(client: httpx.Client) -> str:
    """A board with two systems."""
    body = {"name": HARM["A"], "references": [TEXTS], "metrics": ["bleu"], "resamples": 99}
    made = client.post("/v1/testsets", json={**body, **ENVELOPE})
    assert made.status_code == 201, made.text
    address = f"/boards/{made.json()['id']}"
    for name in "AB":
        lines = "\n".join(f"{name} {line}" for line in TEXTS) + "\n"
        put = client.post(
            f"{address}/systems",
            data={"name": HARM[name]},
            files={"hypotheses": ("own.txt", lines.encode())},
            headers=BROWSER,
        )
        assert put.status_code == 303, put.text
    return address


def task_of(client: httpx.Client) -> str:
    """A shared task with a team and its system."""
    body = {"name": HARM["B"], "references": [TEXTS], "metrics": ["bleu"], "resamples": 99}
    testset = client.post("/v1/testsets", json=body).json()["id"]
    asked = {"name": HARM["A"], "testsets": {HARM["B"]: testset}, "deadline": DEADLINE, **ENVELOPE}
    made = client.post("/v1/tasks", json=asked)
    assert made.status_code == 201, made.text
    task = made.json()["id"]
    team = client.post(f"/tasks/{task}/teams", data={"name": HARM["A"]}, headers=BROWSER)
    assert team.status_code == 200, team.text
    token = team.text.partition('<pre class="unbroken">')[2].partition("<")[0]
    put = client.post(
        f"/tasks/{task}/systems",
        data={"name": HARM["B"], "testset": HARM["B"]},
        files={"hypotheses": ("own.txt", "\n".join(TEXTS).encode())},
        headers={**BROWSER, "X-API-Key": token},
    )
    assert put.status_code == 303, put.text
    return f"/tasks/{task}"


def race_of(client: httpx.Client) -> str:
    """A race with scores of items whose names mean harm."""
    body = {"name": HARM["B"], "systems": [HARM["A"], HARM["D"]], "scale": [0, 1], **ENVELOPE}
    made = client.post("/v1/races", json=body)
    assert made.status_code == 201, made.text
    own = {f"{MARKUP}{i}": i % 3 % 2 for i in range(9)}
    batch = {HARM["A"]: own, HARM["D"]: dict.fromkeys(own, 0)}
    sent = client.post(made.json()["links"]["observations"], json={"scores": batch})
    assert sent.status_code == 200, sent.text
    return f"/races/{made.json()['id']}"


@pytest.fixture(scope="module")
def addresses(service: httpx.Client) -> dict[str, list[str]]:
    """Addresses of pages, by the path of their route."""
    filled = {path: ["/" + path.strip("/")] for path in ("/", "/sign-in", "/api", "/boards")}
    filled["/boards/{id}"] = [board_of(service)]
    filled["/races"], filled["/races/{id}"] = ["/races"], [race_of(service)]
    filled["/tasks"], filled["/tasks/{id}"] = ["/tasks"], [task_of(service)]
    # as they are downloaded
    filled["/tasks/{id}/testsets/{testset}/leaderboard"] = filled["/tasks/{id}/archive"] = []
    pair = httpx.QueryParams(a=HARM["A"], b=HARM["B"])
    for path, kind in KINDS.items():
        bodies = [harmful(example["value"]) for example in kind.examples.values()]
        own = asked(service, path, bodies[0] if bodies else comparison())
        filled[f"/{path}"] = [f"/{path}", f"/{path}?{httpx.QueryParams(title=HARM['B'])}"]
        filled[f"/{path}/{{id}}"] = [own]
        filled[f"/{path}/{{id}}/pairs"] = []
        if path == "comparisons":
            shared = service.post(f"{own}/share", headers=BROWSER)
            assert shared.status_code == 303
            page = service.get(own, headers={"Accept": "text/html"}).text
            link = page.partition('href="/shared/')[2].partition('"')[0]
            filled["/shared/{link}"] = [f"/shared/{link}", f"/shared/{link}?beside=1"]
            sort = httpx.QueryParams(sort=f"-{HARM['A']}", hide=HARM["D"])
            filled[f"/{path}/{{id}}"] += [f"{own}?beside=1&{sort}", f"{own}?{pair}"]
            filled[f"/{path}/{{id}}/pairs"] = [f"{own}/pairs?{pair}", f"{own}/pairs"]
    return filled


def test_no_page_is_left_out(addresses):
    paths = {route.path for route in create_app().routes if "GET" in route.methods}
    probes = ("/healthz", "/readyz")
    known = {path for path in paths if not path.endswith((*OTHERS, *probes))}
    known = {path for path in known if not path.startswith(PROGRAMS)}
    assert known == set(addresses)


BOTH = ((360, "dark"), (1600, "light"))


@pytest.mark.parametrize("all_looks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_page_is_inert_and_for_everybody(service, chromium, axe, addresses, all_looks):
    """Nothing runs on any; each is looked at in both ways, or every second one in one of them."""
    looks = itertools.cycle([BOTH] if all_looks else [BOTH[:1], (), BOTH[1:], ()])
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        said: list[str] = []
        page.on("dialog", lambda dialog: said.append(dialog.message))
        for address in [own for addressed in addresses.values() for own in addressed]:
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            for width, scheme in next(looks):
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                assert (address, width, visited.violations(axe)) == (address, width, [])
                assert page.evaluate("document.documentElement.scrollWidth") <= width, address
            assert page.locator("main script, [onload], [onerror], [onfocus]").count() == 0, address
            assert not {"\u202e", "\u2066"} & set(page.content()), address
        assert said == []


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"/comparisons/{'0' * 32}", 404),
        (f"/boards/{'0' * 32}", 404),
        (f"/shared/{'0' * 50}", 404),
        (f"/{MARKUP}", 404),
        (f"/comparisons?{httpx.QueryParams(status=HARM['B'])}", 422),
        (f"/comparisons?{httpx.QueryParams(cursor=HARM['B'])}", 422),
    ],
)
def test_problems_are_pages_for_everybody(service, chromium, axe, address, status):
    with visit(chromium, str(service.base_url)) as visited:
        answer = visited.page.goto(address)
        assert answer.status == status
        assert visited.violations(axe) == []
        assert visited.page.locator("main script, main img").count() == 0
        assert visited.complaints.pop().startswith("Failed to load resource")


def test_many_warnings_leave_room_for_the_systems(service, chromium):
    """The first five are read at once, the others by a click, or on paper."""
    reference = [f"word{i} and some more words." for i in range(20)]
    systems = [{"name": f"own{i}", "hypotheses": [*reference[:-1], ""]} for i in range(12)]
    body = {"references": [reference], "systems": systems, "metrics": ["chrf"], "resamples": 99}
    made = service.post("/v1/comparisons", json=body, headers=WAIT).json()
    warnings = sentences(service.get(f"/v1/comparisons/{made['id']}/report").json())
    with visit(chromium, str(service.base_url)) as visited:
        page = visited.page
        page.goto(f"/comparisons/{made['id']}")
        shown = page.locator(".warnings li:visible")
        assert shown.count() == 5 < len(warnings)
        page.emulate_media(media="print")
        assert shown.count() == len(warnings)
        assert page.locator(".warnings summary:visible").count() == 0
        page.emulate_media(media="screen")
        page.click(f".warnings summary:text-is('{len(warnings) - 5} more')")
        assert json.dumps(shown.all_inner_texts()) == json.dumps(warnings)
