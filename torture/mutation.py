"""Part "faults": each seeded fault is planted in a service, and the checks must notice it."""

from __future__ import annotations

from torture.cost import costed
from torture.faults import FAULTS
from torture.flood import flooded
from torture.hostile.bombardment import bombarded
from torture.load.ledger import Ledger, seen
from torture.storm import stormed
from torture.strangers import estranged

SEED = 1
SECONDS = 60.0
QUESTIONS = 60
PATIENCE = 20.0  # seconds until something counts as stuck: some of these faults leave it so
LOOKS = {"opened": "doors", "told": "oracle", "kept": "erasure"}
KILLS = {
    "lost commit": ("store killed", "store killed"),
    "no reconciler": ("worker killed",) * 10,
    "processes that outlive": ("worker killed", "supervisor killed"),
}
NAMES = (*FAULTS, "predictions ten times too low")


def noticed(name: str) -> tuple[bool, Ledger]:
    """Whether a fault was noticed, and what was seen with it."""
    ledger = planted(name)
    wanted = FAULTS[name].noticed if name in FAULTS else ("costly",)
    return seen(ledger, wanted), ledger


def planted(name: str) -> Ledger:
    """What the part that looks for such a fault sees with it."""
    if name not in FAULTS:
        return costed(SEED, name)
    wanted = set(FAULTS[name].noticed)
    if looks := tuple(look for bad, look in LOOKS.items() if bad in wanted):
        return estranged(SEED, name, 20, looks)
    if "faulty" in wanted:
        return bombarded(SEED, range(1500), name)
    if "late" in wanted:
        return flooded(SEED, name, most=200, small=10)
    kinds = KILLS.get(name, ("worker killed",))
    return stormed(SEED, SECONDS, QUESTIONS, name, kinds, PATIENCE)


def mutated(seed: int) -> Ledger:
    """The ledger of one fault: a check that does not notice it is wrong."""
    name = NAMES[seed % len(NAMES)]
    ledger = Ledger()
    found, with_fault = noticed(name)
    ledger.count("faults planted")
    if found:
        ledger.count("faults noticed")
        shown = next((f for f in with_fault.findings), "")
        ledger.findings.append(f"{name}: {with_fault.faults}; {shown[:200]}")
    else:
        ledger.bad("wrong", f"nothing noticed {name!r}; seen: {with_fault.faults}")
    return ledger
