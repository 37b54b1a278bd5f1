"""What an operator may set of the front end: limits, waiting times, keys.

Each setting is read from the environment as `SIGTEST_` and its name in capitals.
"""

import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_settings import NoDecode

from sigtest.data.names import check_name
from sigtest.errors import InputError
from sigtest.requests.model import wrong
from sigtest.requests.recipe import MAX_RESAMPLES
from workers.access import digest_of
from workers.settings import PREFIX, Count, Seconds, Variables
from workers.settings import Settings as QueueSettings

OF_CLIENTS = "SIGTEST_API_KEY"  # which commands read
NEAR = 0.8  # how alike a name is that was meant; platforms have variables that begin like ours
ORIGIN = r"\*|https?://[^/\s]+"
HOST = r"\*|[\w.-]+|[0-9a-f:.]+"


def _switch(value: object) -> object:
    if isinstance(value, str) and value not in ("0", "1"):
        raise wrong(f"must be 0 or 1, not {value!r}")
    return value


def _listed(pattern: str, what: str) -> BeforeValidator:
    """The check of a list between commas, whose entries all look alike."""

    def check(value: object) -> object:
        entries = _entries(value) if isinstance(value, str) else value
        for entry in entries if isinstance(entries, Iterable) else ():
            if not re.fullmatch(pattern, str(entry)):
                raise wrong(f"must be {what}, separated by commas, not {entry!r}")
        return entries

    return BeforeValidator(check)


def _entries(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.split(",") if entry.strip())


def _holders(value: object) -> object:
    """Names and hashes of keys from NAME:KEY,NAME:KEY."""
    if not isinstance(value, str):
        return value
    entries = [entry.partition(":") for entry in _entries(value)]
    holders: dict[str, str] = {}
    for name, _, key in entries:
        if not key:
            raise wrong("must be NAME:KEY, separated by commas")
        try:
            check_name(name, "caller")
        except InputError as error:
            raise wrong(f"cannot be used: {error.message.rstrip('.')}") from error
        holder = holders.setdefault(key, name)
        if holder != name:
            raise wrong(f"gives {holder} and {name} the same key; a key tells who asks")
    return tuple((name, digest_of(key)) for name, _, key in entries)


Switch = Annotated[bool, BeforeValidator(_switch)]


class Settings(Variables):
    """Limits of one request, and who may ask.

    Attributes:
        max_body_bytes: Size of a request.
        max_text_bytes: Text of an upload, all files together, after decompression.
        max_archive_files: Members of an uploaded archive.
        max_archive_ratio: Times its size that an archive may unpack to; 1 MiB is always allowed.
        max_segments: Segments of a test set.
        max_systems: Systems, times their training replicas, of a comparison (summed over test sets)
            or of a test set.
        max_characters: Characters of a segment.
        max_metrics: Metrics of a comparison.
        max_resamples: Resamples of a comparison; no more than the default is ever taken.
        max_scores: Systems (of every test set; with `bootstrap_t` twice, and pairs) times metrics
            times resamples: 8 bytes each in the data store until a comparison is finished, and up
            to 36 in the worker that writes the report, so 0.9 GB; 60 systems, 4 metrics and 999,999
            resamples need 240 million. Of a leaderboard, the systems that it may have.
        max_rows: Pairs times metrics times tests.
        max_reading_seconds: Seconds of a core that reading and checking a body may take, and one
            more for each MB of it.
        max_page: Entries in a page of a listing.
        max_webhooks: Webhooks that a caller may have.
        max_wait_seconds: Longest `Prefer: wait`.
        max_event_seconds: Longest stream of events.
        max_streams: Streams of events that a caller may have open at a time; 429 beyond.
        allow_downloads: 1 lets sacreBLEU fetch test sets that a request names (`builtin`).
        cors_origins: Origins whose pages may ask in a browser, such as `https://board.example`,
            separated by commas; `*` for all. Keys are sent in headers; cookies are never read
            across origins.
        api_keys: `NAME:KEY,NAME:KEY`: callers who may do everything, for a first try. Held as names
            and hashes.
        hosts: Names under which the service is asked besides those of loopback, separated by
            commas, without ports; `*` for all. [Where there are keys](#who-sees-what), and this is
            empty, by any.
        keys_required: 1 asks for a key also when the store has none, as one that lost them; for a
            store of your own.
        open: 1 lets other machines ask where there are no keys.
    """

    max_body_bytes: Count = 64 * 2**20
    max_text_bytes: Count = 128 * 2**20
    max_archive_files: Count = 1000
    max_archive_ratio: Count = 200
    max_segments: Count = 100_000
    max_systems: Count = 200
    max_characters: Count = 20_000
    max_metrics: Count = 20
    max_resamples: Count = MAX_RESAMPLES
    max_scores: Count = 25_000_000
    max_rows: Count = 100_000
    max_reading_seconds: Seconds = 10
    max_page: Count = 100
    max_webhooks: Count = 20
    max_wait_seconds: Seconds = 60
    max_event_seconds: Seconds = 600
    max_streams: Count = 32
    allow_downloads: Switch = False
    cors_origins: Annotated[
        tuple[str, ...], NoDecode, _listed(ORIGIN, "origins such as https://board.example")
    ] = ()
    api_keys: Annotated[tuple[tuple[str, str], ...], NoDecode, BeforeValidator(_holders)] = Field(
        default=(), repr=False
    )
    hosts: Annotated[
        tuple[Annotated[str, StringConstraints(to_lower=True)], ...],
        NoDecode,
        _listed(HOST, "names such as sigtest.example, without port"),
    ] = ()
    keys_required: Switch = False
    open: Switch = False


def misspelt(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables that nothing reads, with the setting that each may have meant.

    Those that are like no setting, such as SIGTEST_SERVICE_HOST of a platform, are left out.
    """
    variables = (*QueueSettings.variables().values(), *Settings.variables().values())
    known = {variable.removeprefix(PREFIX): variable for variable in variables}
    meant: dict[str, str] = {}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in {*variables, OF_CLIENTS}:
            near = get_close_matches(name.removeprefix(PREFIX), known, 1, NEAR)
            meant.update((name, known[one]) for one in near)
    return meant
