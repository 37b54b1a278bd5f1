"""The parts of the torture: what each asks, how it is run, and how large the record is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torture.cost import costed
from torture.flood import flooded
from torture.hostile.bombardment import bombarded
from torture.load.ledger import Ledger
from torture.mutation import NAMES, mutated
from torture.soak import soaked
from torture.storm import stormed
from torture.strangers import estranged

STORM_SECONDS = 180.0
REQUESTS = 5_000  # of one run


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        name: As the command line has it.
        title: Of its section.
        question: What a doubting operator asks and this part answers.
        run: Makes the run of one seed.
        runs: How many the record has.
    """

    name: str
    title: str
    question: str
    run: Callable[[int], Ledger]
    runs: int


def _storm(seed: int) -> Ledger:
    return stormed(seed, STORM_SECONDS)


def _requests(seed: int) -> Ledger:
    return bombarded(seed, range(seed * REQUESTS, (seed + 1) * REQUESTS))


PARTS = {
    part.name: part
    for part in (
        Part("storm", "Work under kills, pauses and full disks",
             "Is an accepted question ever lost, doubled, wrong or stuck?", _storm, 15),
        Part("requests", "Generated requests",
             "Is there a request that the service does not refuse in its own words?",
             _requests, 20),
        Part("strangers", "Strangers on one service",
             "What can one caller learn of another, and what stays of what was deleted?",
             estranged, 5),
        Part("flood", "A flood",
             "Does one caller's work delay another's?", flooded, 3),
        Part("cost", "Costs of uploads",
             "Is there a small upload that takes more than was predicted?", costed, 62),
        Part("soak", "Half an hour of work",
             "Does memory grow?", soaked, 1),
        Part("faults", "Seeded faults",
             "Would these checks notice?", mutated, len(NAMES)),
    )
}  # fmt: skip
