"""Which requests come in at all: from whose pages, by which name, from where."""

import re

import pytest
from exchange import COMPARISONS, problem, submit

from app.settings import Settings
from workers.access import Access
from workers.errors import SettingError
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect

BOARD = "https://board.example"
CROSS = {"Sec-Fetch-Site": "cross-site"}
LINK = CROSS | {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
KEYED = Settings.model_validate({"SIGTEST_API_KEYS": "ann:secret"})
ANN = {"X-API-Key": "secret"}
OF_OTHER_SITES = {
    "no-cors": CROSS | {"Sec-Fetch-Mode": "no-cors"},
    "fetch": CROSS | {"Origin": "https://evil.example"},
    "neighbour": {"Sec-Fetch-Site": "same-site"},
    "old browser": {"Origin": "https://evil.example"},
    "sandbox": {"Origin": "null"},
    "frame": LINK | {"Sec-Fetch-Dest": "iframe"},
}
FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Host",
             "X-Forwarded-Proto", "Via", "CF-Connecting-IP", "True-Client-IP", "X-Forwarded",
             "X-Original-Forwarded-For", "X-Envoy-External-Address", "CDN-Loop")  # fmt: skip


@pytest.mark.parametrize("headers", OF_OTHER_SITES.values(), ids=OF_OTHER_SITES)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", COMPARISONS),
        ("GET", COMPARISONS),
        ("DELETE", f"{COMPARISONS}/{'0' * 32}"),
        ("OPTIONS", COMPARISONS),
        ("GET", "/openapi.json"),
        ("GET", "/metrics"),
        ("GET", "/"),
        ("GET", "/comparisons"),
        ("POST", "/comparisons"),
        ("POST", "/sign-in"),
    ],
)
def test_pages_of_other_sites_read_and_change_nothing(service, headers, method, path):
    problem(service.request(method, path, headers=headers), 403, "forbidden")


def test_a_link_on_another_site_opens_and_its_form_does_not(service):
    assert service.get("/comparisons", headers=LINK).status_code == 200
    assert service.post("/comparisons", headers=LINK, data={"do": "x"}).status_code == 403


def test_keys_do_not_help_pages_of_other_sites_and_programs_need_say_nothing(serve):
    keyed = serve(KEYED)
    for headers in OF_OTHER_SITES.values():
        problem(keyed.get(COMPARISONS, headers=ANN | headers), 403, "forbidden")
    by_proxy = {"Host": "sigtest.example", "X-Forwarded-For": "203.0.113.7"}
    assert keyed.get(COMPARISONS, headers=ANN | by_proxy).status_code == 200
    assert keyed.get("/sign-in", headers=by_proxy | LINK).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example",
                                  "127.0.0.1.evil.example", "10.1.2.3", "[", ""])  # fmt: skip
def test_a_name_that_its_owner_led_here_is_not_answered(service, host):
    for path in (COMPARISONS, "/", "/comparisons", "/openapi.json", "/metrics", "/api"):
        problem(service.get(path, headers={"Host": host}), 403, "forbidden")
    assert service.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.:81", "127.0.0.1:1", "[::1]:8000"])
def test_names_of_loopback_are_answered(service, host):
    assert service.get(COMPARISONS, headers={"Host": host}).status_code == 200


def test_names_that_the_operator_gives_are_answered_and_no_others(serve):
    settings = {"SIGTEST_HOSTS": "Sigtest.Example, 10.0.0.7"}
    plain, keyed = serve(Settings.model_validate(settings)), serve(Settings.model_validate(
        settings | {"SIGTEST_API_KEYS": "ann:secret"}
    ))  # fmt: skip
    for host, status in (("sigtest.example:80", 200), ("10.0.0.7", 200), ("evil.example", 403)):
        assert plain.get(COMPARISONS, headers={"Host": host}).status_code == status
        assert keyed.get(COMPARISONS, headers=ANN | {"Host": host}).status_code == status
    with pytest.raises(SettingError, match="SIGTEST_HOSTS must be names"):
        Settings.model_validate({"SIGTEST_HOSTS": "https://sigtest.example"})


@pytest.mark.parametrize("header", FORWARDED)
def test_what_a_proxy_hands_on_is_not_local(service, header):
    for path in (COMPARISONS, "/", "/openapi.json"):
        told = problem(service.get(path, headers={header: "127.0.0.1"}), 403, "forbidden")
        assert "keys add NAME" in told["detail"]


def test_what_its_owner_made_public_is_for_everybody(service, pages, body):
    path = submit(service, body).headers["location"].removeprefix("/v1")
    pages.post(f"{path}/share")
    link = re.findall(r'/shared/[^"/]+', pages.get(path).text)[0]
    afar = {"Host": "evil.example", "X-Forwarded-For": "203.0.113.7"} | CROSS
    for part in ("", "/report", "/pictures/matrix.svg"):
        assert service.get(link + part, headers=afar).status_code == 200
    assert service.post(link, headers=afar).status_code == 403


def test_an_origin_that_may_ask_asks_the_interface_and_no_form(serve):
    client = serve(Settings(cors_origins=(BOARD,)))
    headers = CROSS | {"Origin": BOARD}
    assert client.get(COMPARISONS, headers=headers).status_code == 200
    assert client.post(COMPARISONS, headers=headers, json={}).status_code == 422
    problem(client.post("/sign-out", headers=headers), 403, "forbidden")
    problem(client.get(COMPARISONS, headers=CROSS), 403, "forbidden")  # an image, says no origin


def test_a_service_that_had_a_key_stays_closed_when_its_store_lost_it(tmp_path, serve_on):
    lost = QueueSettings(state=tmp_path)
    server = EmbeddedServer(lost)
    server.ensure()
    redis = connect(lost)
    client = serve_on(Settings(), lost)
    assert client.get(COMPARISONS).status_code == 200
    Access(redis, lost.marker).add("ann", ["read"])
    redis.flushall()
    problem(client.get(COMPARISONS), 401, "unauthorized")
    problem(serve_on(Settings(), lost).get(COMPARISONS), 401, "unauthorized")
    redis.close()
    server.stop()


def test_keys_may_be_needed_whatever_the_store_has(serve):
    needed = serve(Settings.model_validate({"SIGTEST_KEYS_REQUIRED": "1", "SIGTEST_OPEN": "1"}))
    problem(needed.get(COMPARISONS), 401, "unauthorized")
