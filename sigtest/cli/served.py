"""The service that `--server` names: a client of it, and its reports as objects again."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from sigtest.cli.parser import UsageError
from sigtest.errors import InputError, ServiceError
from sigtest.requests.notes import Notes
from sigtest.version import __version__

if TYPE_CHECKING:
    from sigtest.client import Client

T = TypeVar("T")


def client_of(options: argparse.Namespace) -> Client:
    """A client of the service that `--server` names."""
    from sigtest.client import Client  # late: only --server needs httpx, which takes 0.1 s

    return Client(options.server, os.environ.get("SIGTEST_API_KEY") or None)


def envelope_of(options: argparse.Namespace) -> Notes:
    """What the options write on a question or a test set of a service.

    Raises:
        UsageError: There is no service to keep it, or metadata is no NAME=VALUE.
        InputError: It cannot be kept.
    """
    metadata = {}
    for spelled in options.metadata:
        name, equals, value = spelled.partition("=")
        if not equals or not name:
            raise UsageError(f"--metadata takes NAME=VALUE, not {spelled!r}")
        metadata[name] = value
    envelope = Notes.of({"title": options.call or "", "tags": options.tag, "metadata": metadata})
    if options.server is None and envelope.as_json():
        raise UsageError("--call, --tag and --metadata are for a service: --server URL")
    return envelope


def understood(stored: bytes, reader: Callable[[Mapping[str, Any]], T]) -> T:
    """The service's report, which only its own version of sigtest is sure to understand.

    Raises:
        ServiceError: Another version of sigtest wrote it.
    """
    body = json.loads(stored)
    try:
        return reader(body)
    except InputError as error:
        raise ServiceError(
            f"The service runs sigtest {body.get('version')} and this is {__version__}, which "
            "cannot show its report; take --format json."
        ) from error
