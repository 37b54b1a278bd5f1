"""What a picture of a report is, and the pictures of a comparison: the only place that knows them.

A picture shows one metric and test, of one test set or of all together, or a whole report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from sigtest.data.names import choose
from sigtest.errors import InputError, RecipeError
from sigtest.late import late
from sigtest.render import drawing as svg
from sigtest.render import marks, standings
from sigtest.render.model import Figure
from sigtest.render.words import (
    MINUS,
    estimate,
    in_words,
    p_in_words,
    percent,
    probability,
    short_probability,
    signed,
)
from sigtest.report import PairReport, Report, counted

if TYPE_CHECKING:
    from sigtest.draws.distribution import Distribution  # needs NumPy, which --help must not load

Choice = Mapping[str, str]
BADGE, UNTITLED = 15.0, svg.Style(omitted=frozenset({"title"}))  # points high, and how it is drawn
MIRROR = {"greater": "less", "less": "greater"}


def where(fits: Callable[[Any], bool]) -> Callable[[Any], Sequence[Choice]]:
    """What a picture shows that is not drawn of each choice, and can be drawn of some reports."""
    return lambda report: [{}] if fits(report) else []


@dataclass(frozen=True)
class Picture:
    """One way to draw a report.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        plot: Makes the SVG of a report, and of what is chosen by the names in `takes`.
        shows: All choices that a report has, of which the first is drawn where nothing is chosen;
            none where it cannot be drawn of the report.
        further: What can be chosen where that is not what `plot` takes by name.
        needs: Whether it is drawn from the report alone, or also from the distribution of a pair,
            which `plot` takes by that name, or is about one system, which is chosen.
        whole: Whether one picture shows all metrics and tests.
        lacks: What is missing where it cannot be drawn of a report, unless `plot` says so.
    """

    name: str
    title: str
    plot: Callable[..., str]
    shows: Callable[[Any], Sequence[Choice]]
    further: tuple[str, ...] = ()
    needs: Literal["report", "distribution", "system"] = "report"
    whole: bool = False
    lacks: str = ""

    @property
    def takes(self) -> tuple[str, ...]:
        """What can be chosen: `criterion`, `metric`, `alpha`..."""
        return self.further or tuple(signature(self.plot).parameters)[1:]

    def fits(self, report: object) -> bool:
        """Whether it can be drawn of a report."""
        return bool(self.shows(report))

    def figure(self, report: object, **choice: str) -> Figure:
        """The picture as a block of a document, drawn where a format shows it."""
        return Figure(self.title, partial(self.draw, report, choice))

    def draw(self, report: object, choice: Choice, distribution: Distribution | None = None) -> str:
        """The SVG.

        Args:
            report: What to draw.
            choice: What of it, by the names in `takes`, as far as they are named.
            distribution: Of a pair, where the picture needs one.

        Raises:
            SigtestError: The report has nothing such.
        """
        shown = self.shows(report)
        if self.lacks and not shown:
            raise RecipeError(f"This report has no {self.lacks}: no {self.name}.", field="plot")
        choice = choice or next(iter(shown), {})
        drawn = {} if distribution is None else {"distribution": distribution}
        return self.plot(report, **choice, **drawn)


@dataclass(frozen=True)
class View:
    """What to draw of a comparison.

    Attributes:
        report: Of one test set, or of all together.
        metric: Label of the metric.
        test: Name of the significance test.
        title: Which test set of several it is; empty where there is one.
        distribution: Of one pair, for pictures that need it.
        style: Width, title and parts that are left out.
    """

    report: Report
    metric: str
    test: str
    title: str = ""
    distribution: Distribution | None = None
    style: svg.Style = svg.PLAIN

    @property
    def heading(self) -> str:
        """Metric and test set."""
        metric = standings.metric_heading(self.report, self.metric)
        return f"{metric}, {self.title}" if self.title else metric


def view(
    report: Report,
    metric: str | None = None,
    test: str | None = None,
    testset: str | None = None,
    distribution: Distribution | None = None,
    **style: str,
) -> View:
    """Find what is to be drawn; see `VIEW`.

    Args:
        report: On one test set or on several.
        metric: The first where none is named; that of the distribution, if there is one.
        test: The first that keeps its level where none is named; or as for the metric.
        testset: Which one of several; all together where none is named.
        distribution: Of one pair.
        style: How, by the names in `drawing.STYLE`.

    Raises:
        InputError: A report of fewer than two systems.
        RecipeError: A metric, test, test set or pair that the report does not have; a distribution
            of several test sets together.
    """
    parts = standings.titled(report)
    names = [name for name, _ in parts[:-1]]
    if distribution is not None:
        metric, test = distribution.metric, distribution.test
        if names and testset is None:
            raise RecipeError(
                f"testset must name one of the test sets: {', '.join(names)}.", field="testset"
            )
    if testset is not None and not names:
        raise RecipeError("The report is on one test set; leave testset out.", field="testset")
    last = len(names)
    place = last if testset is None else names.index(choose(testset, names, "testset", "test set"))
    title, part = parts[place]
    leading = standings.leading_test(part)
    if leading is None or len(part.systems) < 2:
        raise InputError(f"Pictures need two systems; the report has {len(part.systems)}.")
    metric = choose(metric or next(iter(part.metrics)), part.metrics, "metric", "metric")
    test = choose(test or leading, part.tests, "test", "significance test")
    if distribution is not None:
        find_pair(part, distribution.a, distribution.b, metric, test)
    return View(part, metric, test, title, distribution, svg.Style.of(style))


def find_pair(report: Report, a: str, b: str, metric: str, test: str) -> PairReport:
    """The report of a pair, turned round where it has the two systems in reverse.

    Raises:
        RecipeError: The report has no such pair, metric or test.
    """
    choose(metric, report.metrics, "metric", "metric")
    choose(test, report.tests, "test", "significance test")
    for field, name in (("a", a), ("b", b)):
        choose(name, [system.name for system in report.systems], field, "system")
    known = {(pair.a, pair.b): pair for pair in report.pairs_of(metric, test)}
    if (a, b) in known:
        return known[a, b]
    if (b, a) in known:
        pair = known[b, a]
        turned = MIRROR.get(pair.alternative, pair.alternative)
        return replace(
            pair,
            a=a,
            b=b,
            score_a=pair.score_b,
            score_b=pair.score_a,
            difference=-pair.difference,
            alternative=turned,
        )
    raise RecipeError(f"The report does not compare {a!r} and {b!r}.", field="b")


# Intervals ---------------------------------------------------------------------------------------

MANY = 30  # pairs, above which only neighbours in the order of scores are drawn


def intervals_plot(whole: Report, **chosen: Any) -> str:
    """Scores and differences with intervals; the test's decisions fill the marks of differences."""
    seen = view(whole, **chosen)
    report, test = seen.report, seen.test
    places = standings.metric_decimals(report, seen.metric)
    ordered = standings.standings(report, seen.metric, test)
    pairs = report.pairs_of(seen.metric, test)
    scores = [_score(standing, places) for standing in ordered]
    differences = _differences(ordered, pairs, places)
    rows = [*scores, *differences]
    levels = percent(report.interval_level)
    drawing = svg.Drawing(
        f"{{}}, {levels} intervals",
        "; ".join(f"{f' {MINUS} '.join(row.names)} {row.number}" for row in rows) + ".",
        (seen.heading,),
        style=seen.style,
    )
    what = "differences between neighbours" if len(pairs) > MANY else "differences"
    marks.forest(drawing, marks.Forest(scores), marks.Forest(differences, what, line=0.0))
    sides = "one-sided, " if pairs[0].claimed else ""
    by = f" ({in_words(test)}, {sides}alpha {report.alpha:g})"
    entries: list[tuple[str, str]] = []
    for sign, filled, words in (
        ("filled", True, "significant"), ("hollow", False, "not significant"),
    ):  # fmt: skip
        if any(row.filled == filled for row in differences):
            entries.append((sign, words + by * (not entries)))
    drawing.legend([*entries, *[marks.UNDECIDED] * any(row.undecided for row in rows)])
    return drawing.svg()


def _score(standing: standings.Standing, places: int) -> marks.ForestRow:
    score = standing.score
    number = estimate(score.score, score.ci, places)
    unsure = standing.undecided and standing.rank is not None
    return marks.ForestRow(
        (standing.system.name,), score.score, number, score.ci,
        ruled=standing.opens, undecided=unsure,
    )  # fmt: skip


def _differences(
    ordered: Sequence[standings.Standing], pairs: Sequence[PairReport], places: int
) -> list[marks.ForestRow]:
    """Better minus worse score, from the best system on; one-sided, by the claim."""
    place = {standing.system.name: i for i, standing in enumerate(ordered)}
    known = {(pair.a, pair.b) for pair in pairs}
    rows = []
    for pair in sorted(pairs, key=lambda p: sorted((place[p.a], place[p.b]))):
        first, last = sorted((pair.a, pair.b), key=place.__getitem__)
        if pair.claimed not in (None, first):
            if (pair.b, pair.a) in known:
                continue  # the claim for the better score is a row, too
            first, last = last, first
        if len(pairs) > MANY and abs(place[last] - place[first]) != 1:
            continue
        turned = first != pair.a
        value = -pair.difference if turned else pair.difference
        ends = (-pair.ci[1], -pair.ci[0]) if turned else pair.ci
        number = estimate(value, ends, places, signed)
        rows.append(
            marks.ForestRow(
                (first, last), value, number, ends, pair.significant, undecided=pair.undecided
            )
        )
    return rows


# Matrix ------------------------------------------------------------------------------------------

LEVELS = (0.05, 0.01, 0.001)  # below alpha, that shades tell apart
SHADES: tuple[svg.Colour, ...] = ("one", "two", "three")


def compares_all(report: Report) -> bool:
    """Whether all pairs are compared, so that a matrix can be filled."""
    systems, families = len(report.systems), len(report.metrics) * len(report.tests)
    return len(report.pairs) >= families * systems * (systems - 1) // 2 > 0


def matrix_plot(whole: Report, **chosen: Any) -> str:
    """Adjusted p-values of all pairs, systems ordered by score, clusters marked.

    As Figures 7 and 8 of Graham, Mathur & Baldwin (2014): a row's system against a column's.
    Two-sided, the triangle above the diagonal; one-sided, the row's claim on the column.

    Raises:
        RecipeError: A comparison with a baseline only.
    """
    seen = view(whole, **chosen)
    report, test = seen.report, in_words(seen.test)
    if not compares_all(report):
        raise RecipeError(
            "A matrix needs all pairs; this comparison has a baseline.", field="pairs"
        )
    found = standings.matrix_of(report, seen.metric, seen.test)
    levels: list[marks.Level] = list(
        zip((report.alpha, *(level for level in LEVELS if level < report.alpha)), SHADES,
            strict=False)
    )[::-1]  # fmt: skip
    cells, numbered = {}, seen.style.has("numbers")
    for both, pair in found.cells.items():
        p = pair.p_adjusted
        hint = f"{both[0]} and {both[1]}: p = {probability(p, report.alpha)}"
        word = short_probability(p, report.alpha) if numbered else ""
        if pair.undecided:
            hint, word = f"{hint}, undecided", f"{word}?"
        cells[both] = marks.shade(p, levels), hint, word
    clusters = len(found.clusters) - 1
    ranked = f" {counted(clusters, 'cluster')}." if clusters else ""
    drawing = svg.Drawing(
        f"{{}}: {found.what}",
        f"Adjusted p-values of {test} for all pairs of {len(found.order)} systems, in this order: "
        f"{', '.join(found.order)}.{ranked}",
        (seen.heading,),
        (f"{test}, {p_in_words(report.correction)}",),
        style=seen.style,
    )
    panel = marks.Panel(cells, starts=found.clusters)
    marks.matrix(drawing, found.order, {"": [panel]}, least=9.0, most=26.0)
    shades = {colour for colour, _, _ in cells.values()}
    drawing.legend(
        [
            *(entry for entry in marks.level_words(levels) if entry[0] in shades),
            *[marks.UNDECIDED] * any(pair.undecided for pair in found.cells.values()),
            *[marks.CLUSTER] * (clusters > 1),
        ]
    )
    return drawing.svg()


def grid_plot(whole: Report, **chosen: Any) -> str:
    """What every metric finds under every test, side by side.

    Raises:
        RecipeError: A comparison with a baseline only.
    """
    seen = view(whole, **chosen)
    report = seen.report
    names = [system.name for system in report.systems]
    p: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for pair in report.pairs:
        better = pair.winner(report.metrics[pair.metric].higher_is_better)
        worse = pair.b if better == pair.a else pair.a
        own = p.setdefault((pair.test, pair.metric), {})
        own[better, worse] = pair.p_adjusted
        own.setdefault((worse, better), 1.0)  # one-sided, its own claim may come later
    n = len(names) * (len(names) - 1) // 2
    if not p or len(next(iter(p.values()))) < 2 * n:
        raise RecipeError("A grid needs all pairs; this comparison has a baseline.", field="pairs")
    rows: dict[str, list[marks.Panel]] = {}
    for (test, metric), values in p.items():
        of = report.pairs_of(metric, test)
        unsure = "?" if any(pair.undecided for pair in of) else ""
        apart = f"{100 * sum(pair.significant for pair in of) / n:.1f} % apart{unsure}"
        rows.setdefault(in_words(test), []).append(marks.Panel(marks.beaten(values), metric, apart))
    ordered = standings.standings(report, next(iter(report.metrics)), None)
    systems = [standing.system.name for standing in ordered]
    on = f", {seen.title}" if seen.title else ""
    title, by = f"what metrics and tests separate{on}", p_in_words(report.correction)
    return draw_grid(title, systems, rows, by, seen.style)


def draw_grid(
    title: str,
    systems: Sequence[str],
    rows: Mapping[str, Sequence[marks.Panel]],
    by: str,
    style: svg.Style = svg.PLAIN,
) -> str:
    """One panel a metric and test: does its row's system beat its column's?

    As Figure 8 of Graham, Mathur & Baldwin (2014).

    Args:
        title: Of the picture.
        systems: In the order of rows and columns of every panel.
        rows: By the test, in words.
        by: What the p-values are.
        style: Width, title and parts that are left out.
    """
    told = "; ".join(
        f"{test}: {', '.join(f'{panel.title} {panel.below}' for panel in panels)}"
        for test, panels in rows.items()
    )
    description = f"Systems {', '.join(systems)}. {told}."
    drawing = svg.Drawing("{}", description, (title,), (by,), svg.PAGE, style)
    marks.matrix(drawing, systems, rows, least=3.0, most=9.0, placed=False)
    unsure = any(own.below.endswith("?") for panels in rows.values() for own in panels)
    drawing.legend([*marks.level_words(), *[marks.UNDECIDED] * unsure])
    return drawing.svg()


def badge_plot(report: Report, system: str | None = None, **chosen: Any) -> str:
    """The place of a system, in one line; what is not told apart from it is tied with it."""
    seen = view(report, **chosen)
    placed = standings.standings(seen.report, seen.metric, seen.test)
    names = [own.system.name for own in placed]
    name = choose(system or names[0], names, "system", "system")
    own = placed[names.index(name)]
    ranks = "\u2013".join(map(str, dict.fromkeys(own.rank.range if own.rank else ())))
    first = own.score.score == placed[0].score.score
    words = f"{'first' if first else f'rank {ranks}'} of {len(names)}"
    of = seen.report.pairs_of(seen.metric, seen.test)
    tied = sum(not p.significant for p in of if name in (p.a, p.b))
    if seen.test in seen.report.untestable:
        words += ", untestable"
    elif tied:
        words += f", tied with {counted(tied, 'other')}"
    left, right = (svg.widest([said]) + 2 * svg.MARGIN for said in (seen.heading, words))
    drawing = svg.Drawing("{}", f"{seen.heading}: {words}.", (name,), (), left + right, UNTITLED)
    drawing.rectangle(0, 0, left, BADGE, "ink")
    drawing.rectangle(left, 0, right, BADGE, "one")
    drawing.text(left / 2, BADGE - svg.MARGIN, seen.heading, anchor="middle", colour="paper")
    drawing.text(left + right / 2, BADGE - svg.MARGIN, words, anchor="middle")
    drawing.y = BADGE
    return drawing.svg()


VIEW = ("metric", "test", "testset", *svg.STYLE)  # what is chosen of a view
PAIRED = where(lambda report: bool(report.pairs) and len(report.systems) > 1)

PICTURES: dict[str, Picture] = {
    entry.name: entry
    for entry in (
        Picture(
            "intervals", "Scores and differences with intervals", intervals_plot, PAIRED, VIEW
        ),
        Picture("matrix", "Adjusted p-values of all pairs", matrix_plot, where(compares_all), VIEW),
        Picture(
            "grid",
            "What each metric separates under each test",
            grid_plot,
            where(lambda report: len(report.metrics) > 1 and compares_all(report)),
            VIEW,
            whole=True,
        ),
        Picture(
            "distribution",
            "Pseudo-statistics of a pair, and the tail that is counted",
            late("sigtest.render.distribution:distribution_plot"),
            PAIRED,
            ("a", "b", *VIEW),
            needs="distribution",
        ),
        Picture(
            "badge", "Place of a system on a board", badge_plot, where(compares_all),
            ("system", "metric", "test", "testset"), "system",
        ),
    )
}  # fmt: skip
