"""The report of a race: its dataclasses, documented here only."""

from dataclasses import dataclass

from sigtest.kinds.renderable import Renderable
from sigtest.report import Ends, Methods, Warnings


@dataclass(frozen=True)
class RacedSystem:
    """One system.

    Attributes:
        name: As in the request.
        items: Items that it has a score of.
        mean: Of these scores; null without any.
        range: Ranks it may have: 1 + systems that are better, systems - those that are worse.
        may_be_best: Whether no system is better by a decision.
        until: Row with which the search for the best needed no further items of it; null while it
            does.
    """

    name: str
    items: int
    mean: float | None
    range: tuple[int, int]
    may_be_best: bool
    until: int | None


@dataclass(frozen=True)
class RacedPair:
    """Two systems.

    Attributes:
        a: First system.
        b: Second system.
        items: Items that both have.
        difference: Mean of a less b over these; null without any.
        ci: Interval at the corrected level, which holds at all looks together; of scores with a
            scale, the end nearer to 0 goes up to half of that, however large differences are.
        decided: `a` or `b` is better, or null while it is open.
        since: Row with which it was decided.
        remaining: About how many further items decide it, if the systems go on as they do; null
            where it is decided, or nothing can be said.
    """

    a: str
    b: str
    items: int
    difference: float | None
    ci: Ends
    decided: str | None
    since: int | None
    remaining: int | None


@dataclass(frozen=True)
class Look:
    """The interval of a pair after some rows.

    Attributes:
        a: The leader.
        b: The other system.
        row: How many rows had come.
        difference: Mean of the leader less the other.
        ci: Its interval then.
    """

    a: str
    b: str
    row: int
    difference: float
    ci: Ends


@dataclass(frozen=True, repr=False)
class SequentialReport(Renderable):
    """A race, as its rows so far have it.

    Attributes:
        signature: The line that, with the scores, reproduces it.
        version: Of sigtest.
        statistic: What is averaged and decides.
        scale: Lowest and highest score that there can be, where betting sequences decide; null for
            asymptotic ones.
        burn_in: Items of a pair before which asymptotic sequences decide nothing.
        alpha: How often any decision may be false.
        comparisons: Pairs that are corrected for (Bonferroni).
        items: Rows.
        over: Row with which a single system was left that may be the best; null before.
        remaining: About how many further items leave a single system; null where that is so, or
            nothing can be said.
        observations: Scores that came.
        needed: Scores that would have come if each system had stopped at its `until`.
        leader: The system with the best mean of those that may be the best.
        systems: In input order.
        pairs: In input order.
        looks: Of the leader and each other system, from the first rows to all.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "sequential-comparisons"

    signature: str
    version: str
    statistic: str
    scale: tuple[float, float] | None
    burn_in: int
    alpha: float
    comparisons: int
    items: int
    over: int | None
    remaining: int | None
    observations: int
    needed: int
    leader: str
    systems: tuple[RacedSystem, ...]
    pairs: tuple[RacedPair, ...]
    looks: tuple[Look, ...]
    warnings: Warnings
    methods: Methods | None = None
