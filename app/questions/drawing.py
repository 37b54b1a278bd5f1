"""Pictures of reports: what a request wants to see, and what has to be made first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Query
from starlette.concurrency import run_in_threadpool

from app.http.state import LeftEmpty
from app.http.turns import in_turn
from app.http.waiting import Watcher
from app.questions import answers
from sigtest.data.choices import choose
from sigtest.draws.distribution import Distribution
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS
from sigtest.render.drawing import PARTS
from sigtest.render.standings import leading_test
from workers.questions import PairAsked, Questions, Record
from workers.store.boards import Choice


@dataclass(frozen=True)
class Options:
    """What of a report is to be shown.

    Attributes:
        metric: Label of a metric.
        test: Name of a significance test.
        testset: Name of a test set, where there are several.
        a: First system of a pair.
        b: Second system.
        criterion: What people judged.
        alpha: Level of conclusions, or of a comparison's decisions.
        width: Of the picture.
        title: Of the picture, instead of its own.
        omit: Parts of the picture that are left out, between commas.
        correction: For multiple comparisons, instead of the one that was asked for.
    """

    metric: str | None = None
    test: str | None = None
    testset: str | None = None
    a: str | None = None
    b: str | None = None
    criterion: str | None = None
    alpha: str | None = None
    width: str | None = None
    title: str | None = None
    omit: str | None = None
    correction: str | None = None

    @property
    def decided(self) -> Choice:
        """How a report that can be decided anew is decided.

        Raises:
            RecipeError: The level is no number.
        """
        try:
            return Choice(None if self.alpha is None else float(self.alpha), self.correction)
        except ValueError:
            raise RecipeError(
                f"alpha must be a number, not {str(self.alpha)[:40]!r}.", field="alpha"
            ) from None


MetricNamed = Annotated[str | None, Query(description="The first by default.")]
TestNamed = Annotated[str | None, Query(description="By default the first that keeps its level.")]


async def _measure(metric: MetricNamed = None, test: TestNamed = None) -> Options:
    return Options(metric, test)


async def _pair(
    metric: MetricNamed = None,
    test: TestNamed = None,
    testset: Annotated[
        str | None,
        Query(description="One of several; pictures of a report show all together by default."),
    ] = None,
    a: Annotated[str | None, Query(description="First system of the pair.")] = None,
    b: Annotated[str | None, Query(description="Second system.")] = None,
) -> Options:
    return Options(metric, test, testset, a, b)


MeasureNamed = Annotated[Options, Depends(_measure)]
PairNamed = Annotated[Options, Depends(_pair)]


async def _options(
    pair: PairNamed,
    criterion: Annotated[str | None, Query(description="Of a human evaluation.")] = None,
    alpha: Annotated[
        str | None,
        LeftEmpty,
        Query(description="Level: of accuracy of tests, or of a comparison's decisions."),
    ] = None,
    width: Annotated[
        str | None, Query(description="Of a comparison's picture, such as 16cm; 8.5cm by default.")
    ] = None,
    title: Annotated[str | None, Query(description="Of a comparison's picture.")] = None,
    omit: Annotated[
        str | None,
        Query(description=f"Of a comparison's picture, between commas: {', '.join(PARTS)}."),
    ] = None,
    correction: Annotated[
        str | None, LeftEmpty, Query(description="Of a comparison's decisions.")
    ] = None,
) -> Options:
    return replace(
        pair, criterion=criterion, alpha=alpha, width=width, title=title, omit=omit,
        correction=correction,
    )  # fmt: skip


OptionsNamed = Annotated[Options, Depends(_options)]


async def draw(name: str, record: Record, caller: str, watch: Watcher, options: Options) -> str:
    """The SVG of a picture.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.

    Raises:
        RecipeError: No such picture, or nothing such in the report.
        NotReadyError: There is no report, or no distribution yet.
    """
    kind = KINDS[record.kind]
    picture = kind.pictures[choose(name, kind.pictures, "picture", "picture")]
    choice = options.decided if kind.decides else answers.AS_ASKED
    apart = ("alpha", "correction") if kind.decides else ()
    named = {
        part: value
        for part, value in vars(options).items()
        if value is not None and part not in apart
    }
    kind.check_chosen(name, named)
    drawn: Distribution | None = None
    if picture.needs == "distribution":
        drawn = await distribution_of(record, caller, watch, options)

    def made() -> str:
        report = answers.read(watch.questions.report(record.id, caller), record, choice)
        return picture.draw(report, named, drawn)

    return await in_turn(made)


async def distribution_of(
    record: Record, caller: str, watch: Watcher, options: Options
) -> Distribution:
    """The pseudo-statistics of the pair that is asked for; raises as `draw` does."""
    pair = await run_in_threadpool(pair_of, record, caller, watch.questions, options)
    return await watch.distribution(record, caller, pair)


def pair_of(record: Record, caller: str, questions: Questions, options: Options) -> PairAsked:
    """The pair that is asked for; metric and test are those that stand first by default.

    Raises:
        RecipeError: No pair is named.
        NotReadyError: There is no report.
    """
    for field in ("a", "b"):
        if getattr(options, field) is None:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
    report = answers.read(questions.report(record.id, caller), record)
    leading = leading_test(report)
    if leading is None:
        raise RecipeError("The report has no pairs; it needs two systems.", field="a")
    return PairAsked(
        str(options.a),
        str(options.b),
        options.metric or next(iter(report.metrics)),
        options.test or leading,
        options.testset,
    )
