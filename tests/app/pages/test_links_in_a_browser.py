"""Pages of another site show what a public link leads to where its owner lets them."""

import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import Visit
from exchange import submit

EMBEDS = """<!doctype html><title>Another site</title>
<iframe id="frame" src="{link}" width="900" height="600"></iframe>
<img id="picture" src="{link}/pictures/intervals.svg" alt="">
"""
FETCH = """link => fetch(`${link}/report?format=json`).then(answer => answer.json())
    .then(report => report.systems.map(system => system.name).join(' ')).catch(() => 'refused')"""
WIDTH = """() => document.readyState === 'complete' && document.querySelector('#picture').complete
    && {width: document.querySelector('#picture').naturalWidth}"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Another site, and the folder with its pages: localhost is another one than 127.0.0.1."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}", tmp_path
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("allowed", ["none", "another", "this", "all"])
def test_a_frame_a_picture_and_a_fetch(service, body, chromium, site, allowed):
    url, folder = site
    origins = {"none": [], "another": ["https://wmt.example"], "this": [url], "all": ["*"]}
    own = submit(service, body).json()["links"]["self"]
    made = service.put(f"{own}/link", json={"origins": origins[allowed]}).json()
    link = f"{str(service.base_url).rstrip('/')}{made['address']}"
    (folder / "index.html").write_text(EMBEDS.format(link=link))
    lets = allowed in ("this", "all")
    with closing(Visit(chromium, url).context) as context:
        page = context.pages[0]
        page.goto("/")
        width = page.wait_for_function(WIDTH).json_value()["width"]
        # browsers do not say whose page a picture is on: one site is all sites
        assert (width > 0) == (allowed != "none")
        assert page.evaluate(FETCH, link) == ("A B" if lets else "refused")
        (frame,) = page.main_frame.child_frames
        frame.wait_for_load_state()
        assert (frame.locator("h1").count() > 0) == lets
        if lets:
            assert "A" in frame.locator("table").first.inner_text()
