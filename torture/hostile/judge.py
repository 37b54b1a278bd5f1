"""What an answer to any request must be, whatever the request was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from torture.hostile.generator import Sent
from torture.load.ledger import Ledger

LONGEST = 20.0  # seconds for an answer, on a machine with other things to do
REVEALING = (b"Traceback (most", b'File "/', b"site-packages", b"valkey.sock")
FIELDS = {"type", "title", "status", "detail"}


@dataclass(frozen=True)
class Got:
    """An answer.

    Attributes:
        status: Its status code.
        headers: By name in small letters.
        data: Its body.
        seconds: How long it took.
    """

    status: int
    headers: Mapping[str, str]
    data: bytes
    seconds: float


def judge(ledger: Ledger, sent: Sent, got: Got) -> None:
    """Note what is wrong with an answer."""
    ledger.count("generated requests")
    ledger.count(f"answered {got.status // 100}xx")
    where = f"{sent.method} {sent.target[:200]} {sent.data[:150]!r}: {got.status}"
    if got.status >= 500:
        ledger.bad("faulty", f"{where} {got.data[:200]!r}")
    if any(word in got.data for word in REVEALING):
        ledger.bad("told", f"{where} reveals {got.data[:200]!r}")
    if got.seconds > LONGEST:
        ledger.bad("slow", f"{where} took {got.seconds:.0f} s")
    of_interface = sent.target.startswith("/v1/")
    if of_interface:
        _doors(ledger, where, sent, got)
    if sent.method == "HEAD" or got.status in {204, 304}:
        if got.data:
            ledger.bad("faulty", f"{where} has a body")
    elif of_interface and got.status >= 400:
        _problem(ledger, where, got)
    elif got.headers.get("content-type") == "application/json":
        _json(ledger, where, got)


def _doors(ledger: Ledger, where: str, sent: Sent, got: Got) -> None:
    """Nothing opens without a key, and nothing of another caller's."""
    if got.status >= 300 or sent.method == "OPTIONS":
        return
    if not sent.keyed:
        ledger.bad("opened", f"{where} without a key")
    if sent.foreign:
        ledger.bad("opened", f"{where} is another caller's")


def _problem(ledger: Ledger, where: str, got: Got) -> None:
    """A refusal is a problem document whatever was accepted."""
    if got.headers.get("content-type") != "application/problem+json":
        ledger.bad("faulty", f"{where} is {got.headers.get('content-type')}: {got.data[:100]!r}")
        return
    told = _json(ledger, where, got)
    if not isinstance(told, dict) or not told.keys() >= FIELDS or told["status"] != got.status:
        ledger.bad("faulty", f"{where} is no problem document: {got.data[:200]!r}")


def _json(ledger: Ledger, where: str, got: Got) -> object:
    try:
        told: object = json.loads(got.data)
    except ValueError:
        ledger.bad("faulty", f"{where} is no JSON: {got.data[:200]!r}")
        return None
    return told
