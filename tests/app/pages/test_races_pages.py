"""Pages of races: made with a form, fed with files, and they say what is decided."""

import httpx
from exchange import problem

FORM = {"name": "evening", "systems": "new\nold\nolder", "scale": ["0", "1"], "tags": "a, b"}


def table(first: int, last: int) -> str:
    rows = [f"q{i}\t1\t{i % 2}\t0" for i in range(first, last)]
    return "\n".join(["id\tnew\told\tolder", *rows]) + "\n"


def test_a_race_is_made_fed_and_read_with_forms(pages):
    made = pages.post("/races", files={"x": ("", b"")}, data=FORM)
    assert made.status_code == 303, made.text
    url = made.headers["location"]
    empty = pages.get(url).text
    assert "0 scores of 0 items" in empty
    assert "data-lacks" in empty
    sent = pages.post(f"{url}/observations", files={"scores": ("a.tsv", table(0, 60))})
    assert (sent.status_code, sent.headers["location"]) == (303, url)
    # a page waits for two seconds, and a worker may be busy
    page = next(page for _ in range(20) if "<svg" in (page := pages.get(url).text))
    assert "new is the best, known since item" in page
    assert "180 scores of 60 items" in page
    assert "data-lacks" not in page  # it is over
    assert "<svg" in page
    assert f"{url}/report?format=csv" in page
    assert pages.get(f"{url}/report", params={"format": "csv"}).status_code == 200
    listing = pages.get("/races", params={"tag": "b"}).text
    assert f'<a href="{url}">evening</a>' in listing
    assert "new, since item" in listing
    again = pages.post(f"{url}/observations", files={"scores": ("b.tsv", "id\tnew\nq1\t0\n")})
    assert again.status_code == 409
    assert "has a score of 1, not 0" in again.text
    changed = pages.post(f"{url}/describe", data={"title": "Evening run", "tags": ""})
    assert changed.headers["location"] == url
    assert "Evening run" in pages.get(url).text
    assert pages.post(f"{url}/delete").headers["location"] == "/races"
    assert pages.get(url).status_code == 410


def test_what_a_form_says_wrong_is_said_on_a_page(pages):
    refused = pages.post("/races", files={"x": ("", b"")}, data={**FORM, "scale": ["1", "0"]})
    assert refused.status_code == 422
    assert 'data-fields="scale"' in refused.text
    address = f"{pages.base_url}/races/{'0' * 32}"
    problem(httpx.get(address), 404, "not-found")
