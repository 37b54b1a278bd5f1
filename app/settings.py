"""What an operator may set of the front end: limits, waiting times, keys.

Each setting is read from the environment as `SIGTEST_` and its name in capitals.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from sigtest.data.names import check_name
from sigtest.errors import InputError
from sigtest.requests.recipe import MAX_RESAMPLES
from workers.access import digest_of
from workers.errors import SettingError
from workers.settings import COUNT, SECONDS, VARIABLES, whole_number

PREFIX = "SIGTEST_"
OF_CLIENTS = "SIGTEST_API_KEY"  # which commands read
NEAR = 0.8  # how alike a name is that was meant; platforms have variables that begin like ours


@dataclass(frozen=True)
class Settings:
    """Limits of one request, and who may ask.

    Attributes:
        max_body_bytes: Size of a request's body.
        max_text_bytes: Text of one upload, all files together, after decompression.
        max_archive_files: Members of an uploaded archive.
        max_archive_ratio: How many times its size an archive may unpack to.
        max_segments: Segments of a test set.
        max_systems: Systems of a comparison.
        max_characters: Characters of one segment.
        max_metrics: Metrics of a comparison.
        max_resamples: Resamples of a comparison, whether given or chosen by `auto`.
        max_scores: Numbers that resampling keeps until a comparison is finished, 8 bytes each in
            the store and some 36 in the worker that reports: systems (of every test set), for
            bootstrap_t twice and pairs, times metrics times resamples; of a test set, all along.
        max_rows: Rows of a report: pairs times metrics times significance tests.
        max_reading_seconds: Of a core that reading a body may take, besides one for each MB of it.
        max_page: Entries in one page of a listing.
        max_webhooks: Webhooks that a caller may have.
        max_wait_seconds: How long a request may wait for a result (`Prefer: wait`).
        max_event_seconds: How long one stream of events lasts; clients reconnect.
        max_streams: Streams of events that a caller may have open at a time.
        allow_downloads: Whether sacreBLEU may fetch its test sets from the network; 0 or 1.
        cors_origins: Origins whose pages may ask in a browser, separated by commas, such as
            https://board.example; `*` for all. None by default.
        api_keys: Who may ask, as NAME:KEY, separated by commas, besides the holders of keys in the
            store; held as names and hashes.
        hosts: Names by which the service is asked besides those of loopback, separated by commas,
            such as sigtest.example; `*` for all. Where there are keys, and this is empty, by any.
        keys_required: Whether keys are needed although the store has none, as one that lost them;
            0 or 1.
        open: Whether anybody may ask from other machines where there are no keys; 0 or 1.
    """

    max_body_bytes: int = 64 * 2**20
    max_text_bytes: int = 128 * 2**20
    max_archive_files: int = 1000
    max_archive_ratio: int = 200
    max_segments: int = 100_000
    max_systems: int = 200
    max_characters: int = 20_000
    max_metrics: int = 20
    max_resamples: int = MAX_RESAMPLES
    max_scores: int = 25_000_000
    max_rows: int = 100_000
    max_reading_seconds: int = 10
    max_page: int = 100
    max_webhooks: int = 20
    max_wait_seconds: int = 60
    max_event_seconds: int = 600
    max_streams: int = 32
    allow_downloads: bool = False
    cors_origins: tuple[str, ...] = ()
    api_keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    keys_required: bool = False
    open: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the environment; variables that are unset or empty have their defaults.

        Raises:
            SettingError: A limit that is no whole number from 1 or is out of its range, a switch
                that is not 0 or 1, or keys that are not NAME:KEY.
        """
        given = {
            setting.name: environment[PREFIX + setting.name.upper()]
            for setting in fields(cls)
            if environment.get(PREFIX + setting.name.upper())
        }
        keys = _parse_keys(given.pop("api_keys", ""))
        origins = _parse_origins(given.pop("cors_origins", ""))
        hosts = _parse_hosts(given.pop("hosts", ""))
        switches = {
            name: _parse_switch(name, given.pop(name, "0"))
            for name in ("allow_downloads", "keys_required", "open")
        }
        limits: dict[str, Any] = {name: _parse_limit(name, text) for name, text in given.items()}
        return cls(**limits, **switches, cors_origins=origins, hosts=hosts, api_keys=keys)


def misspelt(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables that nothing reads, with the setting that each may have meant.

    Those that are like no setting, such as SIGTEST_SERVICE_HOST of a platform, are left out.
    """
    own = [f"{PREFIX}{setting.name.upper()}" for setting in fields(Settings)]
    known = {name.removeprefix(PREFIX): name for name in (*VARIABLES, *own)}
    found: dict[str, str] = {}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in {*known.values(), OF_CLIENTS}:
            near = get_close_matches(name.removeprefix(PREFIX), known, 1, NEAR)
            found.update((name, known[one]) for one in near)
    return found


def _parse_limit(name: str, text: str) -> int:
    return whole_number(text, f"{PREFIX}{name.upper()}", 1, SECONDS if "seconds" in name else COUNT)


def _parse_switch(name: str, text: str) -> bool:
    if text not in {"0", "1"}:
        raise SettingError(f"{PREFIX}{name.upper()} must be 0 or 1, not {text!r}.")
    return text == "1"


def _parse_origins(text: str) -> tuple[str, ...]:
    origins = tuple(entry.strip() for entry in text.split(",") if entry.strip())
    for origin in origins:
        if origin != "*" and not re.fullmatch(r"https?://[^/\s]+", origin):
            raise SettingError(
                f"{PREFIX}CORS_ORIGINS must be origins such as https://board.example, separated by "
                f"commas, not {origin!r}."
            )
    return origins


def _parse_hosts(text: str) -> tuple[str, ...]:
    hosts = tuple(entry.strip().lower() for entry in text.split(",") if entry.strip())
    for host in hosts:
        if not re.fullmatch(r"\*|[\w.-]+|[0-9a-f:.]+", host):
            raise SettingError(
                f"{PREFIX}HOSTS must be names such as sigtest.example, without port, separated by "
                f"commas, not {host!r}."
            )
    return hosts


def _parse_keys(text: str) -> tuple[tuple[str, str], ...]:
    entries = [entry.strip().partition(":") for entry in text.split(",") if entry.strip()]
    holders: dict[str, str] = {}
    for name, _, key in entries:
        if not key:
            raise SettingError(f"{PREFIX}API_KEYS must be NAME:KEY, separated by commas.")
        try:
            check_name(name, "caller")
        except InputError as error:
            raise SettingError(f"{PREFIX}API_KEYS: {error.message}") from error
        holder = holders.setdefault(key, name)
        if holder != name:
            raise SettingError(
                f"{PREFIX}API_KEYS: {holder} and {name} have the same key; a key tells who asks."
            )
    return tuple((name, digest_of(key)) for name, _, key in entries)
