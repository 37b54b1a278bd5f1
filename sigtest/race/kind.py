"""Races as questions: scores in the order of arrival in, what is decided and since when out."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import ClassVar

from sigtest.data.names import choose
from sigtest.kinds import comparisons
from sigtest.kinds.base import EXAMPLES, WholeKind
from sigtest.people.kind import FINISHED
from sigtest.race.compute import (
    Look,
    RacedPair,
    RacedSystem,
    SequentialQuestion,
    SequentialReport,
    compute,
    parse,
)
from sigtest.render import marks, model, records
from sigtest.render.comparison import MANY
from sigtest.render.drawing import Drawing
from sigtest.render.pictures import Picture, where
from sigtest.render.standings import abridged
from sigtest.render.words import interval, whole
from sigtest.report import counted
from sigtest.requests.model import options
from sigtest.requests.races import SOURCES, SequentialRequest

PLACES = 3
NOTES = (
    "intervals and decisions hold at all looks together, if items come in random order, each with "
    "one score of a system (runs averaged); more: about how many further items decide a pair",
)


def race_plot(report: SequentialReport, b: str | None = None) -> str:
    """The interval of the leader's difference from another system against items.

    Args:
        report: Of a race.
        b: The other system; by default the one that is closest in the end.

    Raises:
        RecipeError: None of the others.
    """
    courses = _courses(report)
    closest = min(courses.values(), key=lambda own: abs(own[-1].difference))
    looks = courses[choose(b or closest[0].b, courses, "b", "system beside the leader")]
    told = "; ".join(f"{whole(look.row)} {interval(look.ci, PLACES)}" for look in looks)
    heading = (f"difference in {report.statistic}, with its interval at all looks",)
    drawing = Drawing("the race of {} and {}", f"{told}.", (looks[0].a, looks[0].b), heading)
    low = [(float(look.row), look.ci[0]) for look in looks]
    middle = [(float(look.row), look.difference) for look in looks]
    high = [(float(look.row), look.ci[1]) for look in looks]
    across = marks.Axis.around((0.0, float(report.items)), label="items, as they came")
    up = marks.Axis.around((0.0, *(end for look in looks for end in look.ci)))
    x, y = marks.plane(drawing, across, up)
    marks.curve(drawing, x, y, middle, low, high)
    marks.level(drawing, x, y(0.0))
    return drawing.svg()


def _courses(report: SequentialReport) -> dict[str, list[Look]]:
    """Two looks at least of each other system."""
    found: dict[str, list[Look]] = {}
    for look in report.looks:
        found.setdefault(look.b, []).append(look)
    return {name: looks for name, looks in found.items() if len(looks) > 1}


PICTURES: dict[str, Picture] = {
    "race": Picture(
        "race",
        "How the leader and another system came apart, item by item",
        race_plot,
        where(lambda report: bool(_courses(report))),
        lacks="pair with intervals at two looks",
    ),
}


SHEETS: dict[str, Callable[[SequentialReport], model.Sheet]] = {
    "pairs": lambda report: records.sheet(records.fields_of(RacedPair), report.pairs),
    "systems": lambda report: records.sheet(records.fields_of(RacedSystem), report.systems),
}


def answer(report: SequentialReport) -> tuple[str, ...]:
    """Who may be the best, since when or for how long, and what stopping spares."""
    best = abridged([system.name for system in report.systems if system.may_be_best])
    if report.over:
        spared = 100 - 100 * report.needed / report.observations
        since = f"since item {whole(report.over)} of {whole(report.items)}"
        return (f"{best} is the best, known {since}: {spared:.0f} % of the scores are spared.",)
    rest = f"; about {whole(report.remaining)} more decide it" if report.remaining else ""
    return (f"After {counted(report.items, 'item')} {best} may be the best{rest}.",)


def document(report: SequentialReport) -> model.Document:
    """Systems, the course of the race, and pairs."""
    low, high = report.scale or (0, 0)
    scale = f"scores from {low:g} to {high:g}" if report.scale else f"from item {report.burn_in} on"
    level = f"alpha {report.alpha:g} over {counted(report.comparisons, 'pair')} and all looks"
    facts, pairs, race = (
        (answer(report)[0].rstrip("."), scale, level),
        report.pairs,
        PICTURES["race"],
    )
    of_systems = (
        model.column("rank", (model.Range(*system.range) for system in report.systems)),
        *model.fields(report.systems, ("mean", "mean", PLACES), ("items", "items")),
        model.column("", ["may be the best" * system.may_be_best for system in report.systems]),
        *model.fields(report.systems, ("done after", "until")),
    )
    of_pairs = (
        *model.fields(pairs, ("a - b", "difference", PLACES, True)),
        model.column(
            "interval", [pair.ci if isfinite(pair.ci[0]) else None for pair in pairs], PLACES
        ),
        model.column("", [model.verdict(pair, pair.decided, "open") for pair in pairs]),
        *model.fields(pairs, ("since", "since"), ("more", "remaining")),
    )
    names = (model.names("system", [system.name for system in report.systems]),)
    systems, compared = (
        model.ReportTable(
            name=name, caption=caption, names=sides, groups=(model.Group("", columns),),
            facts="; ".join(facts), things=name, folded_over=MANY,
        )
        for name, caption, sides, columns in (
            ("systems", f"Systems by {report.statistic}", names, of_systems),
            ("pairs", "Pairs", model.sides(pairs), of_pairs),
        )
    )  # fmt: skip
    return model.Document(
        title=f"Race of {counted(len(report.systems), 'system')} by {report.statistic}",
        facts=facts,
        answer=answer(report),
        blocks=(systems, *([race.figure(report)] if race.fits(report) else ()), compared),
        notes=NOTES,
    )


class SequentialComparisons(WholeKind[SequentialQuestion]):
    """Which systems differ, looked at after every item."""

    name = "sequential comparison"
    path = "sequential-comparisons"
    summary = "May this evaluation stop: which pairs are decided, and since which item?"
    content = SequentialQuestion
    reports = (SequentialReport,)
    request = SequentialRequest
    examples = EXAMPLES["sequential-comparisons"]
    parts = {"judgements": "Instead of texts and scores: files of judgements by people."}
    command = "race"
    fields = options(SequentialRequest, SOURCES)
    compares = "comparison"
    reads: ClassVar[Mapping[str, str]] = {"columns": "systems"}
    named = (FINISHED, comparisons.FINISHED)
    pictures = PICTURES
    tables = ("systems", "pairs")
    naming = ("name", "a", "b", "leader")

    question = staticmethod(parse)
    compute = staticmethod(compute)
    document = staticmethod(document)
    sheets = SHEETS


KIND = SequentialComparisons()
