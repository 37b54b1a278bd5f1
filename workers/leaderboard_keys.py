"""Every key name of test sets and leaderboards, and how long each key lives.

    sigtest:testset:ID            hash    facts about a test set: caller, plan, resamples, revision
    sigtest:testset-text:ID       string  references, documents, labels; compressed
    sigtest:testset-systems:ID    hash    digest of each system's content, by name
    sigtest:testset-outputs:ID    hash    hypotheses and scores by digest, compressed
    sigtest:testset-measured:ID   set     names of the systems whose rows all exist
    sigtest:testset-rows:ID       hash    rows of systems (by digest) and pairs (by both digests)
    sigtest:testset-failures:ID   hash    why a digest cannot be measured
    sigtest:testset-attempts:ID   hash    how often the joining of a digest was started
    sigtest:testset-views:ID      hash    reports by what they show; gone with every change
    sigtest:testset-distributions:ID  hash  pseudo-statistics of pairs, made on demand
    sigtest:gone:ID               string  the caller; outlives the test set
    sigtest:joining               set     ids of test sets with systems to be measured
    sigtest:testsets:CALLER       sorted  a caller's test sets, by time
    sigtest:totals:ID:R:DIGEST    hash    totals of one system under R resamples, by part
    sigtest:totals-used           sorted  keys of totals, by last use
    sigtest:totals-sizes          hash    bytes of totals by key
    sigtest:totals-bytes          string  bytes of all totals

A test set and all that belongs to it expires some time after its last change. Totals may go
earlier: they are a function of the statistics, which are a function of the text. Distributions go
with every change, and some time after the last of them was made.
"""

from __future__ import annotations

import hashlib
from typing import Any

from redis.commands.core import Script

PREFIX = "sigtest:"
JOINING = PREFIX + "joining"
USED = PREFIX + "totals-used"
OWN = (
    "",
    "-text",
    "-systems",
    "-outputs",
    "-measured",
    "-rows",
    "-failures",
    "-attempts",
    "-views",
)


def key(testset_id: str, part: str = "") -> str:
    """One of the keys of a test set."""
    return f"{PREFIX}testset{part}:{testset_id}"


def gone(testset_id: str) -> str:
    """Where it is kept whose a test set was."""
    return f"{PREFIX}gone:{testset_id}"


def listing(caller: str) -> str:
    """A caller's test sets."""
    return f"{PREFIX}testsets:{hashlib.sha256(caller.encode()).hexdigest()[:32]}"


def totals(testset_id: str, resamples: int, digest: str) -> str:
    """The totals of one system."""
    return f"{PREFIX}totals:{testset_id}:{resamples}:{digest}"


def call(script: Script, testset_id: str, *arguments: Any) -> Any:
    """Run one of `leaderboard_scripts` on a test set."""
    keys = [
        *(key(testset_id, part) for part in OWN),
        gone(testset_id),
        JOINING,
        USED,
        PREFIX + "totals-sizes",
        PREFIX + "totals-bytes",
        key(testset_id, "-distributions"),
    ]
    return script(keys, [testset_id, *arguments])
