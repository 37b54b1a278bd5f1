"""The faults that are planted, to see that the checks notice them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from torture.plant import Change


@dataclass(frozen=True)
class Fault:
    """A fault of the product as it might be.

    Attributes:
        name: What it is called.
        does: What is wrong then.
        module: Which module is changed.
        change: How.
        noticed: The counts of which one must not stay 0.
    """

    name: str
    does: str
    module: str
    change: Change
    noticed: tuple[str, ...]


def _put(where: Any, name: str, what: Any) -> None:
    """Put something in the place of what is there.

    Raises:
        AttributeError: There is nothing of that name: the fault would change nothing.
    """
    getattr(where, name)
    setattr(where, name, what)


def _forgets(module: Any) -> None:
    """The embedded store keeps no append-only file."""
    real = module.subprocess

    def popen(arguments: list[str], **options: Any) -> Any:
        before = ["", *arguments]
        kept = ["no" if a == "--appendonly" else w for a, w in zip(before, arguments, strict=False)]
        return real.Popen(kept, **options)

    _put(module, "subprocess", SimpleNamespace(**{**vars(real), "Popen": popen}))


def _commits_nothing(module: Any) -> None:
    real = module.QuestionStore.commit

    def commit(self: Any, question_id: str, outcome: Any, *rest: Any, **named: Any) -> bool:
        lost = int(question_id, 16) % 3 == 0 and outcome is module.Status.SUCCEEDED
        return True if lost else bool(real(self, question_id, outcome, *rest, **named))

    _put(module.QuestionStore, "commit", commit)


def _drops_a_piece(module: Any) -> None:
    real = module.QuestionStore.blocks

    def blocks(self: Any, *arguments: Any) -> list[Any]:
        found = list(real(self, *arguments))
        return [*found[:-1], found[0]] if len(found) > 1 else found

    _put(module.QuestionStore, "blocks", blocks)


def _shares_the_cache(module: Any) -> None:
    _put(module, "space_of", lambda caller: module.hashed("caller", "everybody"))


def _folds_keys(module: Any) -> None:
    real = module.digest_of
    _put(module, "digest_of", lambda secret: real(secret.lower()))


def _doubles(module: Any) -> None:
    real = module.keys

    def hashed(*parts: str) -> str:
        return str(real.hashed(*parts, os.urandom(8).hex()))

    _put(module, "keys", SimpleNamespace(**{**vars(real), "hashed": hashed}))


def _revives_nothing(module: Any) -> None:
    from workers.queue import Jobs  # where the supervisor asks what a worker left behind

    _put(module.Reconciler, "_revive", lambda self, lost: None)
    _put(Jobs, "left_by", lambda self, worker: None)


def _outlives(module: Any) -> None:
    _put(module, "die_with_parent", lambda *signal: None)


def _fails_at_listings(module: Any) -> None:
    real = module.Questions.listing

    def listing(self: Any, *args: Any) -> Any:
        records, after = real(self, *args)
        if len(records) > 3:
            raise RuntimeError("planted")
        return records, after

    _put(module.Questions, "listing", listing)


def _shows_strangers(module: Any) -> None:
    real = module.Questions._own

    def own(self: Any, stored: Any, question_id: str, caller: str, *kind: Any) -> Any:
        return real(self, stored, question_id, stored.caller if stored else caller, *kind)

    _put(module.Questions, "_own", own)


def _erases_nothing(module: Any) -> None:
    _put(module.Eraser, "round", lambda self: None)


def _serves_in_order(module: Any) -> None:
    """All callers stand in one line, first come first served."""
    real = module.Feed._let_wait
    seconds = iter(range(10**9))

    def let_wait(self: Any, owner: str, tasks: list[Any], behind: bool) -> None:
        again = [replace(task, seconds=float(next(seconds))) for task in tasks]
        real(self, "everybody", again, behind)

    _put(module.Feed, "_let_wait", let_wait)


def _by_name(*faults: Fault) -> Mapping[str, Fault]:
    return {fault.name: fault for fault in faults}


def _fault(name: str, module: str, change: Change, noticed: str, does: str) -> Fault:
    return Fault(name, does, module, change, tuple(noticed.split()))


STORE = "workers.store.questions"
FAULTS = _by_name(
    _fault("lost commit", "workers.store.server", _forgets, "lost",
           "the store keeps nothing on disk, so that a kill loses what was accepted"),
    _fault("unwritten report", STORE, _commits_nothing, "failed stuck",
           "of every third question the report is never written"),
    _fault("dropped piece", STORE, _drops_a_piece, "wrong failed",
           "the last block of resamples is left out, the first counted twice"),
    _fault("cache shared between callers", "workers.store.keys", _shares_the_cache, "told",
           "statistics are cached for everybody"),
    _fault("key compared without case", "workers.access", _folds_keys, "opened",
           "keys are made small letters before they are compared"),
    _fault("doubled question", "workers.questions", _doubles, "doubled lost",
           "equal questions of one caller get ids of their own"),
    _fault("no reconciler", "workers.machine.reconciler", _revives_nothing, "stuck slow",
           "a task that was lost with its worker is not queued again"),
    _fault("processes that outlive", "workers.process", _outlives, "orphaned",
           "children do not end with their parent"),
    _fault("bug at a listing", "workers.questions", _fails_at_listings, "faulty",
           "a listing of more than three entries raises an exception"),
    _fault("questions of strangers", "workers.questions", _shows_strangers, "opened",
           "every caller who has an id sees the question"),
    _fault("nothing erased", "workers.machine.reconciler", _erases_nothing, "kept",
           "the append-only file is never written anew"),
    _fault("one line for all", "workers.queue", _serves_in_order, "late",
           "callers are served in the order in which they came"),
)  # fmt: skip
